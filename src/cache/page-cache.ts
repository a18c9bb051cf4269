import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { createTagGenerations } from '../lib/tag-generations.ts';
import type { CacheOptions } from './cache-options.ts';
import { type Compress, createCompressOnce } from './gzip.ts';
import { type InventoryQuery, pageInventory, type PageInventory } from './page-inventory.ts';
import { purgeReach, spoiledBy } from './tags.ts';
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

/** A fetch under way: which tags its page will carry, and when it began, among purges and among other fetches. */
export interface Fill {
  readonly tags: readonly string[];
  readonly generation: number;
  readonly order: number;
}

interface Held {
  readonly page: StoredPage;
  readonly bytes: number;
  /** The gzip form of the body, once it is made; undefined where none was asked for or it saves nothing. */
  readonly gzip?: Buffer;
  /** The order of the fill that it came from. */
  readonly order: number;
}

/** Smaller bodies fit into a packet or two as they are. */
const MIN_GZIP_BYTES = 1024;

/** The store of list pages. */
export interface PageCache {
  lookup(key: string): CacheLookup | undefined;
  /** To be called before the upstream is asked. */
  beginFill(tags: readonly string[]): Fill;
  /** False when the page is too large, one of its tags was purged since the fill began, or a later fill was faster. */
  store(key: string, fill: Fill, page: StoredPageInput): boolean;
  /**
   * The gzip form of a kept page's body: made once, beside the event loop, for the first client that takes it. Undefined until
   * then, where it saves nothing, and for a body that is not the kept one.
   */
  gzip(key: string, body: Buffer): Buffer | undefined;
  /** Removes every page that carries one of the tags and spoils fills under way; answers how many went. */
  purge(tags: readonly string[]): number;
  purgeAll(): number;
  /** Removes one page; fills under way go on. */
  drop(key: string): void;
  /** Grows with every purge; part of a coalescing key, so that nobody joins a fetch older than a write. */
  generation(): number;
  stats(): { readonly entries: number; readonly bytes: number; readonly tags: number };
  /** What is kept, by operation and by tag, for operators; looks at every page. */
  inventory(query: InventoryQuery): PageInventory;
}

/** Creates the store on lru-cache, which keeps sizes and the order of use; time is judged here, by instants. */
export function createPageCache(
  options: Pick<CacheOptions, 'maxBytes' | 'maxEntryBytes' | 'gzip'>,
  clock: Clock,
  compress: Compress = promisify(gzip),
): PageCache {
  const index = createTagIndex();
  const generations = createTagGenerations();
  const maxEntryBytes = Math.min(options.maxEntryBytes, options.maxBytes);
  // No ttl: lru-cache takes an entry stored while the clock reads 0 for one that never ends.
  const pages = new LRUCache<string, Held>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: ({ page }, key) => index.remove(key, spoiledBy(page.tags)),
  });
  let fills = 0;
  const keepGzip = (key: string, page: StoredPage, bytes: Buffer) => {
    const held = pages.peek(key);
    const grown = (held?.bytes ?? 0) + bytes.length;
    if (held?.page !== page || grown > maxEntryBytes) return;
    // Its tags stay, so that it is not to be disposed of.
    pages.set(key, { ...held, gzip: bytes, bytes: grown }, { noDisposeOnSet: true });
  };
  const compressOnce = createCompressOnce(compress);

  return {
    lookup(key) {
      const entry = pages.get(key)?.page;
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
    beginFill(tags) {
      fills += 1;
      return { tags: [...tags], generation: generations.now(), order: fills };
    },
    store(key, fill, input) {
      const tags = [...new Set([...fill.tags, ...(input.tags ?? [])])];
      const spoilers = spoiledBy(tags);
      if (!generations.unmoved(spoilers, fill.generation)) return false;
      if ((pages.peek(key)?.order ?? 0) > fill.order) return false;
      const page = toStoredPage(input, tags, clock());
      const bytes = pageBytes(page, key);
      // Asked here, because lru-cache would drop the page already there: that one outlives a refresh that cannot be kept.
      if (bytes > maxEntryBytes) return false;
      pages.set(key, { page, bytes, order: fill.order });
      index.add(key, spoilers);
      return true;
    },
    gzip(key, body) {
      const held = pages.peek(key);
      if (held === undefined || held.page.body !== body || body.length < MIN_GZIP_BYTES || !options.gzip)
        return undefined;
      if (held.gzip === undefined) compressOnce(held.page, (bytes) => keepGzip(key, held.page, bytes));
      return held.gzip;
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
    drop: (key) => void pages.delete(key),
    generation: () => generations.now(),
    inventory: (query) =>
      pageInventory(
        { pages: pages.entries(), peek: (key) => pages.peek(key), index, maxBytes: options.maxBytes },
        clock(),
        query,
      ),
    stats: () => ({ entries: pages.size, bytes: pages.calculatedSize, tags: index.size }),
  };
}
