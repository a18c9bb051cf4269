import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that matches a path to its template. */
export const match: Stage = {
  name: 'match',
  what: 'contract.match for a raw path',
  paidBy: 'first',
  prepare: ({ assembly: { gateway }, arrival }) =>
    operation(
      () => fresh(arrival.path),
      (path) => gateway.contract.match(path),
    ),
};
