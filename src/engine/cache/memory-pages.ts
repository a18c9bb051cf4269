import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { createTagGenerations } from '../../lib/tag-generations.ts';
import type { CacheOptions } from './cache-options.ts';
import { type InventoryQuery, pageInventory, type PageInventory } from './page-inventory.ts';
import { createTagIndex, invalidatingTags, purgeReach } from './tags.ts';
import type { StoreRefusal } from '../model/trace.ts';
import type { LogPosition } from '../model/change-log.ts';
import { compressed } from './compression.ts';
import type { Coding } from './representation.ts';
import type { SharedPage } from './shared-page-format.ts';
import { ageSeconds, pageBytes, type StoredPage, type StoredPageInput, toStoredPage } from './stored-page.ts';

/** A stored page and its state at the time of the lookup. */
export interface CacheLookup {
  readonly state: 'fresh' | 'stale' | 'expired';
  readonly entry: StoredPage;
  readonly ageSeconds: number;
  /** The remaining freshness in seconds. It is negative if the page is no longer fresh. */
  readonly ttlSeconds: number;
  /** True if the page may be served when the upstream fails. */
  readonly mayServeOnError: boolean;
}

/**
 * A fetch in progress. `generation` is the number of purges before the fetch began, and `order` is the fetch's sequence
 * number.
 */
export interface Fill {
  readonly tags: readonly string[];
  readonly generation: number;
  readonly order: number;
  /** When the fetch began, in epoch milliseconds. */
  readonly beganAt: number;
  /** The position in the log of shared changes when the fetch began. Undefined if pages are not shared. */
  readonly at?: LogPosition | undefined;
}

interface Entry {
  readonly page: StoredPage;
  readonly bytes: number;
  /**
   * The body in content codings. A coding is missing if no client that prefers it has requested the page yet, or if
   * compression does not make the body smaller.
   */
  readonly coded?: Readonly<Partial<Record<Coding, CodedBody>>>;
  /** The sequence number of the fill that stored the entry. */
  readonly order: number;
}

/**
 * The minimum size of a body to compress, in bytes. Smaller bodies fit into one or two packets even without
 * compression.
 */
const MIN_COMPRESSED_BYTES = 1024;

/** The reasons why the cache does not store a page that may be stored. */
type PageRefusal = Extract<StoreRefusal, 'size' | 'purged' | 'superseded'>;

/** The cache of list pages. */
export interface PageCache {
  /** Looks up a page. If `isPeek` is true, the lookup leaves the cache unchanged. */
  lookup(key: string, isPeek?: boolean): CacheLookup | undefined;
  /**
   * Returns a stored page, unless it became stale more than `maxStaleSeconds` ago. Unlike `lookup`, this method
   * never removes a page.
   */
  lookupStale(key: string, maxStaleSeconds: number, isPeek?: boolean): CacheLookup | undefined;
  /** Starts a fill. Call this before the request is sent to the upstream. */
  beginFill(tags: readonly string[]): Fill;
  /**
   * Stores a page and returns undefined. If the page is too large, if one of its tags was purged after the fill began,
   * or if a later fill has already stored a page under the key, returns the reason without storing the page.
   */
  store(key: string, fill: Fill, page: StoredPageInput): PageRefusal | undefined;
  /**
   * Stores a page that another gateway has fetched, unless a more recent page is already stored, and then looks up the
   * page. Returns undefined if the page is too large or no longer valid. If `isPeek` is true, the page is not stored.
   */
  adopt(key: string, shared: SharedPage, isPeek?: boolean): CacheLookup | undefined;
  /**
   * Returns a stored page's body in the first of these content codings that is on. The first call starts the compression
   * in the background and returns undefined. It also returns undefined if compression does not make the body smaller, or
   * if `body` is not the stored buffer.
   */
  coded(key: string, body: Buffer, codings: readonly Coding[]): CodedBody | undefined;
  /**
   * Removes all pages that have any of the tags, and invalidates fills in progress for such pages. Returns the number
   * of pages removed.
   */
  purge(tags: readonly string[]): number;
  purgeAll(): number;
  /** Removes one page without affecting fills in progress. */
  drop(key: string): void;
  /** Removes each page for whose key `occurs` returns false. Returns the number of pages removed. */
  retain(occurs: (key: string) => boolean): number;
  /**
   * Returns a number that increases with every purge. A request joins a fetch in progress only if the fetch began after
   * the last purge, so a request that follows a write cannot receive a page from before the write.
   */
  generation(): number;
  stats(): { readonly entries: number; readonly bytes: number; readonly tags: number };
  /** Counts the stored pages by operation and by tag, for operators. Visits every entry. */
  inventory(query: InventoryQuery): PageInventory;
}

/** A body in a content coding. */
export interface CodedBody {
  readonly coding: Coding;
  readonly bytes: Buffer;
}

/** Compresses a body without blocking the event loop. */
export type Compress = (body: Buffer, coding: Coding) => Promise<Buffer>;

/** Creates the cache. The lru-cache library tracks sizes and the order of use; expiry is handled here. */
export function createPageCache(
  options: Pick<CacheOptions, 'maxBytes' | 'maxEntryBytes' | Coding>,
  clock: Clock,
  compress: Compress = compressed,
): PageCache {
  const index = createTagIndex();
  const generations = createTagGenerations();
  const maxEntryBytes = Math.min(options.maxEntryBytes, options.maxBytes);
  // The ttl option in lru-cache is not used, because an entry stored when the clock is at 0 would never expire.
  const pages = new LRUCache<string, Entry>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: ({ page }, key) => index.remove(key, page.tags),
  });
  let fills = 0;
  const storeCoded = (key: string, page: StoredPage, form: CodedBody) => {
    const entry = pages.peek(key);
    const size = (entry?.bytes ?? 0) + form.bytes.length;
    if (entry?.page !== page || size > maxEntryBytes) return;
    const coded = { ...entry.coded, [form.coding]: form };
    // The page's tags have not changed, so replacing the entry must not remove the page from the tag index.
    pages.set(key, { ...entry, coded, bytes: size }, { noDisposeOnSet: true });
  };
  const compressOnce = createCompressOnce(compress);
  const insert = (key: string, page: StoredPage, order: number): boolean => {
    const bytes = pageBytes(page, key);
    // The size is checked here because lru-cache would remove the existing page if its replacement were too large.
    if (bytes > maxEntryBytes) return false;
    pages.set(key, { page, bytes, order });
    index.add(key, page.tags);
    return true;
  };

  const cache: PageCache = {
    lookup(key, isPeek = false) {
      const entry = (isPeek ? pages.peek(key) : pages.get(key))?.page;
      if (entry === undefined) return undefined;
      const now = clock();
      const mayServeOnError = now < entry.errorUntilAt;
      // If the clock was set back, the age of previously stored pages is unknown.
      if (now < entry.storedAt || (now >= entry.freshUntilAt && now >= entry.staleUntilAt && !mayServeOnError)) {
        if (!isPeek) pages.delete(key);
        return undefined;
      }
      return lookupAt(entry, now);
    },
    lookupStale(key, maxStaleSeconds, isPeek = false) {
      const entry = (isPeek ? pages.peek(key) : pages.get(key))?.page;
      const now = clock();
      if (entry === undefined || now < entry.storedAt || now >= entry.freshUntilAt + maxStaleSeconds * 1000)
        return undefined;
      return lookupAt(entry, now);
    },
    beginFill(tags) {
      fills += 1;
      return { tags, generation: generations.current, order: fills, beganAt: clock() };
    },
    store(key, fill, input) {
      const tags = union(fill.tags, input.tags ?? []);
      const isCurrent =
        fill.generation === generations.current || generations.unmoved(invalidatingTags(tags), fill.generation);
      if (!isCurrent) return 'purged';
      if ((pages.peek(key)?.order ?? 0) > fill.order) return 'superseded';
      return insert(key, toStoredPage(input, tags, clock(), fill.beganAt), fill.order) ? undefined : 'size';
    },
    adopt(key, { page }, isPeek = false) {
      const existing = pages.peek(key)?.page;
      const isLater = existing === undefined || existing.storedAt < page.storedAt;
      if (isPeek)
        return pageBytes(page, key) > maxEntryBytes ? undefined : lookupAt(isLater ? page : existing, clock());
      // Order 0 allows every fetch in this process to replace the page, including fetches that have already begun.
      if (isLater && !insert(key, page, 0)) return undefined;
      return cache.lookup(key);
    },
    coded(key, body, codings) {
      const coding = codings.find((one) => options[one]);
      const entry = coding === undefined || body.length < MIN_COMPRESSED_BYTES ? undefined : pages.peek(key);
      if (coding === undefined || entry?.page.body !== body) return undefined;
      const form = entry.coded?.[coding];
      if (form === undefined)
        compressOnce(entry.page, coding, (bytes) => storeCoded(key, entry.page, { coding, bytes }));
      return form;
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
    retain(occurs) {
      const gone = [...pages.keys()].filter((key) => !occurs(key));
      for (const key of gone) pages.delete(key);
      return gone.length;
    },
    generation: () => generations.current,
    inventory: (query) =>
      pageInventory(
        { pages: pages.entries(), peek: (key) => pages.peek(key), index, maxBytes: options.maxBytes },
        clock(),
        query,
      ),
    stats: () => ({ entries: pages.size, bytes: pages.calculatedSize, tags: index.size }),
  };
  return cache;
}

/** Returns the distinct tags from two lists, the first of which is short. */
function union(few: readonly string[], tags: readonly string[]): readonly string[] {
  return few.length === 0 ? tags : [...few, ...tags.filter((tag) => !few.includes(tag))];
}

/** Returns a page's state at a given time, in epoch milliseconds. */
function lookupAt(entry: StoredPage, now: number): CacheLookup {
  const state = now < entry.freshUntilAt ? 'fresh' : now < entry.staleUntilAt ? 'stale' : 'expired';
  return {
    state,
    entry,
    ageSeconds: ageSeconds(entry, now),
    ttlSeconds: Math.floor((entry.freshUntilAt - now) / 1000),
    mayServeOnError: now < entry.errorUntilAt,
  };
}

/**
 * The maximum number of concurrent compressions. A page requested while this limit is reached remains uncompressed
 * until the next request for it.
 */
const MAX_COMPRESSING = 4;

/**
 * Creates a function that compresses each page at most once in each content coding. If the result is smaller than the
 * page, it is passed to a callback. Errors are ignored.
 */
function createCompressOnce(
  compress: Compress,
): (page: StoredPage, coding: Coding, onCompressed: (bytes: Buffer) => void) => void {
  // Pages whose compression has started or finished.
  const begun = { zstd: new WeakSet<StoredPage>(), gzip: new WeakSet<StoredPage>() };
  let compressing = 0;
  return (page, coding, onCompressed) => {
    if (begun[coding].has(page) || compressing >= MAX_COMPRESSING) return;
    begun[coding].add(page);
    compressing += 1;
    compress(page.body, coding)
      .then((bytes) => (bytes.length < page.body.length ? onCompressed(bytes) : undefined))
      .catch(() => undefined)
      .finally(() => {
        compressing -= 1;
      })
      .catch(() => undefined);
  };
}
