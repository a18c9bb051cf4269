import { admit as admitArrival } from '../../../src/engine/pipeline/targets.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that decodes and checks the parameters and creates the canonical target. */
export const admit: Stage = {
  name: 'admit',
  what: 'decoding and checking the parameters, building the canonical target',
  paidBy: 'first',
  prepare: ({ assembly: { gateway }, plan, arrival }) => {
    const { contract } = gateway;
    const match = contract.match(arrival.path);
    if (match === undefined) throw new Error('the contract does not have the path of the page');
    return operation(
      () => ({ ...arrival, query: fresh(arrival.query ?? '') }),
      (one) => admitArrival(plan, contract, match, one),
    );
  },
};
