import type { PageCache } from './memory-pages.ts';

/** Returns a view of a cache that finds the same pages but leaves the cache unchanged. */
export function readOnly(cache: PageCache): PageCache {
  return {
    ...cache,
    lookup: (key) => cache.lookup(key, true),
    lookupStale: (key, maxStaleSeconds) => cache.lookupStale(key, maxStaleSeconds, true),
    beginFill: (tags) => ({ tags, generation: cache.generation(), order: 0, beganAt: 0 }),
    store: () => 'superseded',
    adopt: (key, shared) => cache.adopt(key, shared, true),
    coded: () => undefined,
    purge: () => 0,
    purgeAll: () => 0,
    drop: () => undefined,
    retain: () => 0,
  };
}
