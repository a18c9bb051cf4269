import { pageKey } from '../../../src/engine/pipeline/page-key.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that creates a page's cache key. */
export const key: Stage = {
  name: 'key',
  what: 'pageKey: the cache key, from the operation, audience, contract and target',
  paidBy: 'hit',
  prepare: ({ plan, exchange }) =>
    operation(
      () => ({ ...exchange, target: fresh(exchange.target) }),
      (one) => pageKey(plan, one),
    ),
};
