import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { createTagGenerations } from '../lib/tag-generations.ts';
import type { CacheOptions } from './cache-options.ts';
import { purgeReach, spoiledBy } from './purge-reach.ts';
import { ageSeconds, pageBytes, type StoredPage, type StoredPageInput, toStoredPage } from './stored-page.ts';
import { createTagIndex } from './tag-index.ts';

/** What the cache holds under a key, judged at this instant. */
export interface CacheLookup {
  readonly state: 'fresh' | 'stale' | 'expired';
  readonly entry: StoredPage;
  readonly ageSeconds: number;
  /** Seconds until it stops being fresh; negative afterwards. */
  readonly ttlSeconds: number;
  /** True while it may be served and refreshed behind the client's back. */
  readonly mayRevalidate: boolean;
  /** True while it may stand in for a failing upstream. */
  readonly mayServeOnError: boolean;
}

/** A fetch under way: which tags its page will carry and the generation in which it began. */
export interface Fill {
  readonly tags: readonly string[];
  readonly generation: number;
}

/** The store of list pages. */
export interface PageCache {
  lookup(key: string): CacheLookup | undefined;
  /** To be called before the upstream is asked. */
  beginFill(tags: readonly string[]): Fill;
  /** False when the page is too large or one of its tags has been purged since the fill began. */
  store(key: string, fill: Fill, page: StoredPageInput): boolean;
  /** Removes every page that carries one of the tags and spoils fills under way; answers how many went. */
  purge(tags: readonly string[]): number;
  purgeAll(): number;
  /** Grows with every purge; part of a coalescing key, so that nobody joins a fetch older than a write. */
  generation(): number;
  stats(): { readonly entries: number; readonly bytes: number; readonly tags: number };
}

/** Creates the store on lru-cache, which keeps sizes and the order of use; time is judged here, by instants. */
export function createPageCache(options: Pick<CacheOptions, 'maxBytes' | 'maxEntryBytes'>, clock: Clock): PageCache {
  const index = createTagIndex();
  const generations = createTagGenerations();
  const pages = new LRUCache<string, StoredPage>({
    maxSize: options.maxBytes,
    maxEntrySize: Math.min(options.maxEntryBytes, options.maxBytes),
    sizeCalculation: pageBytes,
    dispose: (page, key) => index.remove(key, spoiledBy(page.tags)),
  });

  return {
    lookup(key) {
      const entry = pages.get(key);
      if (entry === undefined) return undefined;
      const now = clock();
      const mayServeOnError = now < entry.errorUntilAt;
      // A clock that was set back says nothing about the age of what was stored before.
      if (now < entry.storedAt || (now >= entry.freshUntilAt && now >= entry.staleUntilAt && !mayServeOnError)) {
        pages.delete(key);
        return undefined;
      }
      const state = now < entry.freshUntilAt ? 'fresh' : now < entry.staleUntilAt ? 'stale' : 'expired';
      return {
        state,
        entry,
        ageSeconds: ageSeconds(entry, now),
        ttlSeconds: Math.floor((entry.freshUntilAt - now) / 1000),
        mayRevalidate: state === 'stale',
        mayServeOnError,
      };
    },
    beginFill: (tags) => ({ tags: [...tags], generation: generations.now() }),
    store(key, fill, input) {
      const tags = [...new Set([...fill.tags, ...(input.tags ?? [])])];
      const spoilers = spoiledBy(tags);
      if (!generations.unmoved(spoilers, fill.generation)) return false;
      const page = toStoredPage(input, tags, clock());
      // lru-cache would drop the page already there; a stored page outlives a refresh that cannot be kept.
      if (pageBytes(page, key) > pages.maxEntrySize) return false;
      pages.set(key, page);
      index.add(key, spoilers);
      return true;
    },
    purge(tags) {
      const reached = purgeReach(tags);
      generations.move(reached);
      const before = pages.size;
      for (const tag of reached) for (const key of index.keysOf(tag)) pages.delete(key);
      return before - pages.size;
    },
    purgeAll() {
      const before = pages.size;
      generations.moveAll();
      pages.clear();
      index.clear();
      return before;
    },
    generation: () => generations.now(),
    stats: () => ({ entries: pages.size, bytes: pages.calculatedSize, tags: index.size }),
  };
}
