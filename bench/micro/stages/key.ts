import { pageKey } from '../../../src/pipeline/stored-reply.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** Measures creating the cache key of a page. */
export const key: Stage = {
  name: 'key',
  what: 'pageKey: operation, audience, contract, target',
  paidBy: 'hit',
  prepare: ({ plan, exchange }) =>
    operation(
      () => ({ ...exchange, target: fresh(exchange.target) }),
      (one) => pageKey(plan, one),
    ),
};
