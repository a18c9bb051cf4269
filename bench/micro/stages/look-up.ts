import { pageKey } from '../../../src/engine/pipeline/page-key.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that looks up a key in the cache. */
export const lookUp: Stage = {
  name: 'cache look-up',
  what: 'cache.lookup: hashing the key, updating the LRU order, checking the freshness',
  paidBy: 'hit',
  prepare: ({ assembly: { services }, plan, exchange }) => {
    const { cache } = services;
    const key = pageKey(plan, exchange);
    if (cache.lookup(key)?.state !== 'fresh') throw new Error('the page is not stored');
    return operation(
      () => fresh(key),
      (one) => cache.lookup(one),
    );
  },
};
