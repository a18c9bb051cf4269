import { systemClock } from '../../../src/lib/clock.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that looks up a verified credential. */
export const authenticate: Stage = {
  name: 'authenticate',
  what: 'authenticator.authenticate for a recently verified credential: keyed hash and lookup',
  paidBy: 'hit',
  prepare: ({ assembly: { gateway }, arrival, plan }) => {
    const { authenticator } = gateway;
    const ask = (authorizationHeader: string) =>
      authenticator.authenticate({
        authorizationHeader,
        clientAddress: () => '127.0.0.1',
        level: plan.checks.authentication,
        needsCredential: plan.operation.needsCredential,
        now: systemClock(),
      });
    const credential = arrival.authorization ?? '';
    if (ask(credential) instanceof Promise) throw new Error('the credential is not remembered');
    return operation(() => fresh(credential), ask);
  },
};
