import { systemClock } from '../../../src/lib/clock.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** Looking up a verified credential. */
export const recall: Stage = {
  name: 'credential recall',
  what: 'authenticator.recall of a verified credential (part of recognise)',
  paidBy: 'hit',
  prepare: ({ assembly: { house }, arrival, plan }) => {
    const { authenticator } = house;
    const ask = (authorizationHeader: string) =>
      authenticator.recall({
        authorizationHeader,
        level: plan.checks.authentication,
        needsCredential: plan.operation.needsCredential,
        now: systemClock(),
      });
    const credential = arrival.headers.authorization ?? '';
    if (ask(credential) === undefined) throw new Error('the credential is not remembered');
    return operation(() => fresh(credential), ask);
  },
};
