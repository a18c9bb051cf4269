import { hash as digest } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import type { LogPosition } from '../model/change-log.ts';
import type { Claim } from '../sharing/sharing.ts';
import { isKnownEverywhere, audienceOfKey, type StoredPage } from './stored-page.ts';
import { type ChangeFollower, changingTags } from './change-follower.ts';
import { compressed, expanded } from './compression.ts';
import type { Compress, PageCache } from './memory-pages.ts';
import type { PageStore } from './page-store.ts';
import type { Freshness } from './cache-options.ts';
import type { Coding } from './representation.ts';
import { decodePage, encodePage, type SharedPage } from './shared-page-format.ts';

/**
 * What kind of page a request needs from the second cache level, and whether it may wait while another gateway fetches
 * the page.
 */
interface Need {
  readonly mayWait: boolean;
  /** If set, only a fresh page that was stored after this time (epoch milliseconds) is accepted. */
  readonly newerThan?: number;
  /** The longest durations that this gateway would give the page. */
  readonly longest: Freshness;
}

/** The result of requesting a page that is not in memory. */
interface PageClaim {
  /**
   * The next step. `page`: serve the page. `fetch`: fetch the page and then call `done`. `busy`: do nothing, because
   * another request is already fetching the page.
   */
  readonly kind: 'page' | 'fetch' | 'busy';
  /** The stored page. If `kind` is `fetch`, this page may be served only if the upstream fails. */
  readonly shared: SharedPage | undefined;
  readonly done: () => void;
}

/** The number of lookups in the second cache level, by result. */
interface SharedPageCounts {
  readonly hit: number;
  readonly miss: number;
  /** Lookups that found a page that was purged, damaged or too old. */
  readonly invalid: number;
  /** Lookups that found a value that no gateway of this fleet has sealed for this page. */
  readonly forged: number;
  /** Lookups skipped because the second cache level was unavailable. */
  readonly away: number;
  readonly error: number;
  /** Requests that waited while another gateway fetched the page. */
  readonly waits: number;
  /** Requests that waited and then received the page without fetching it themselves. */
  readonly avoided: number;
}

/** The pages that gateways share. One gateway fetches a page, and the others wait for it. */
export interface SharedPages {
  /**
   * Looks up a page. If the page is missing, makes sure that only one gateway fetches it. Returns undefined if no other
   * gateway can have the page, or needs to know that it is fetched. Never rejects.
   */
  claim(key: string, need: Need): Promise<PageClaim> | undefined;
  /** Returns whether others can currently read what this gateway stores. */
  isShared(): boolean;
  /** Looks up a page that may be served for no longer than `longest`, without acquiring a lock. Never rejects. */
  peek(key: string, longest: Freshness): Promise<SharedPage | undefined>;
  /**
   * Stores a page for all gateways, in the background. `at` is the position in the log of changes at which the page's
   * fetch began.
   */
  put(key: string, page: StoredPage, at: LogPosition): void;
  /** Records that a page was not stored because it was purged while it was being fetched. */
  outdated(key: string): void;
  /** Removes a page in the background. */
  drop(key: string): void;
  /** Compresses a body, or returns the compressed form that another gateway has stored. */
  readonly compress: Compress;
  configure(options: Pick<SharedPagesParts, 'maxEntryBytes'>): void;
  counts(): SharedPageCounts;
}

/** The dependencies and settings of the shared pages. */
interface SharedPagesParts {
  readonly store: PageStore;
  readonly changes: ChangeFollower;
  readonly clock: Clock;
  readonly maxEntryBytes: number;
  /** The release label. Gateways with different releases do not share pages, because their rules may differ. */
  readonly release: string;
  readonly times?: Partial<typeof TIMES>;
}

/** Durations, in milliseconds. */
const TIMES = {
  /** The time after which a lock expires unless its owner renews it. */
  lease: 2_000,
  renew: 600,
  /** How often a waiting request looks up the page, in case it misses the notification that the page was fetched. */
  poll: 250,
  longestWait: 10_000,
  /** How long a compressed body is stored. */
  coded: 600_000,
  /** How long a page is fetched without a lock after an attempt to store it has failed. */
  unstorable: 10_000,
};
const MAX_UNSTORABLE = 1_000;
/**
 * The maximum number of fetches by other gateways that a request waits for. Without this limit, a request could wait
 * indefinitely if each fetched page were purged before the request could use it.
 */
const MAX_REPORTS = 2;

const ignore = () => undefined;
const BUSY: PageClaim = { kind: 'busy', shared: undefined, done: ignore };

/** A fetch that this process has claimed. */
interface Held {
  readonly claim: Claim;
  /** Resolves to true if the page was stored. Undefined if no attempt was made to store it. */
  write?: Promise<boolean>;
  /** True if the page was purged while it was being fetched. */
  isOutdated?: boolean;
}

/**
 * Returns whether gateways can share a page with this cache key, that is, whether the key has the same meaning in every
 * process.
 */
export const isSharable = (key: string): boolean => isKnownEverywhere(audienceOfKey(key));

/** Creates the second level of the page cache, which a fleet's gateways share. */
export function createSharedPages(parts: SharedPagesParts): SharedPages {
  const { store, changes, clock, release } = parts;
  let maxBytes = parts.maxEntryBytes;
  const times = { ...TIMES, ...parts.times };
  const counts = { hit: 0, miss: 0, invalid: 0, forged: 0, away: 0, error: 0, waits: 0, avoided: 0 };
  const claims = new Map<string, Promise<PageClaim>>();
  const held = new Map<string, Held>();
  // The pages that could not be stored, each with the time until which it is fetched without a lock. If a lock were
  // required, gateways could fetch such a page only one at a time.
  const unstorable = createLruMap<string, number>(MAX_UNSTORABLE);
  // A page also contains a hash of its key, so that it is not used for another one even if pages are not sealed.
  const hashOf = (key: string) => digest('sha256', `${release}\n${key}`, 'base64url');

  const isValid = (key: string, { page, at }: SharedPage) =>
    changes.isValid(changingTags(key, page.tags), at) && changes.mayServe(page.asOf);

  /** Looks up a page. Rejects if the store is unavailable. */
  const read = async (key: string, { longest }: Need): Promise<SharedPage | 'miss' | 'invalid' | 'forged'> => {
    const value = await store.get(key);
    if (value === undefined) return 'miss';
    if (value === 'forged') return value;
    const shared = decodePage(value, { hash: hashOf(key), now: clock(), maxBytes, longest });
    return shared !== undefined && isValid(key, shared) ? shared : 'invalid';
  };

  const isUseful = ({ page }: SharedPage, { newerThan }: Need) => {
    const now = clock();
    if (newerThan !== undefined) return now < page.freshUntilAt && page.storedAt > newerThan;
    return now < Math.max(page.freshUntilAt, page.staleUntilAt);
  };

  const fetchUnder = (key: string, claim: Claim, shared: SharedPage | undefined): PageClaim => {
    const lock: Held = { claim };
    held.set(key, lock);
    const renewing = setInterval(() => void claim.renew(times.lease), times.renew).unref();
    const finish = async () => {
      // A page purged during its fetch is treated like a missing page: each waiting request looks up the page again and
      // tries to claim it.
      const mayLookUp = (await lock.write) === true || lock.isOutdated === true;
      if (!mayLookUp) unstorable.set(key, performance.now() + times.unstorable);
      await claim.release(mayLookUp);
    };
    return {
      kind: 'fetch',
      shared,
      done() {
        clearInterval(renewing);
        claims.delete(key);
        if (held.get(key) === lock) held.delete(key);
        finish().catch(() => undefined);
      },
    };
  };

  const attempt = async (key: string, need: Need): Promise<PageClaim> => {
    const withoutLock = (shared?: SharedPage): PageClaim => ({
      kind: 'fetch',
      shared,
      done: () => void claims.delete(key),
    });
    const deadline = performance.now() + times.longestWait;
    let waited = false;
    let reports = 0;
    try {
      for (;;) {
        const found = await read(key, need);
        const shared = typeof found === 'string' ? undefined : found;
        const isHit = shared !== undefined && isUseful(shared, need);
        if (!waited) counts[isHit ? 'hit' : typeof found === 'string' ? found : 'miss'] += 1;
        if (isHit) {
          if (waited) counts.avoided += 1;
          return { kind: 'page', shared, done: ignore };
        }
        if ((unstorable.get(key) ?? 0) > performance.now()) return withoutLock(shared);
        // Listening starts before the attempt to claim the page, so that no notification is missed between the attempt
        // and the wait.
        const report = store.listen(key);
        try {
          const claimed = await store.claim(key, times.lease);
          if (claimed !== undefined) {
            // Since the last lookup, another gateway may have stored the page and ended its claim.
            const latest = await read(key, need).catch(() => 'miss' as const);
            if (typeof latest === 'string' || !isUseful(latest, need)) return fetchUnder(key, claimed, shared);
            void claimed.release(true);
            return { kind: 'page', shared: latest, done: ignore };
          }
          if (!need.mayWait) return BUSY;
          if (reports === MAX_REPORTS) return withoutLock(shared);
          if (!waited) counts.waits += 1;
          waited = true;
          const stored = await report.outcome(times.poll * (0.75 + Math.random() / 2));
          if (stored === false) unstorable.set(key, performance.now() + times.unstorable);
          if (stored === true) reports += 1;
          if (stored === false || performance.now() > deadline) return withoutLock(shared);
        } finally {
          report.stop();
        }
      }
    } catch {
      counts.error += 1;
      return withoutLock();
    }
  };

  const claimAt = async (key: string, need: Need): Promise<PageClaim> => {
    const running = claims.get(key);
    if (running === undefined) {
      const own = attempt(key, need);
      claims.set(key, own);
      const claimed = await own;
      if (claimed.kind !== 'fetch') claims.delete(key);
      return claimed;
    }
    if (!need.mayWait) return BUSY;
    const claimed = await running;
    if (claimed.kind === 'busy') return claimAt(key, need);
    // Only the request that claimed the page ends the claim.
    return claimed.kind === 'fetch' ? { ...claimed, done: ignore } : claimed;
  };

  /**
   * Returns a body in a content coding as stored by another gateway. Returns undefined unless it expands to exactly this
   * body.
   */
  const readCoded = async (key: string, body: Buffer, coding: Coding): Promise<Buffer | undefined> => {
    const value = await store.get(key);
    if (!Buffer.isBuffer(value) || value.length >= body.length) return undefined;
    const plain = await expanded(value, coding, body.length);
    return plain.equals(body) ? value : undefined;
  };

  /** Stores a value, and returns whether it was stored. */
  const write = async (key: string, value: Buffer, ms: number): Promise<boolean> => {
    try {
      await store.set(key, value, ms);
      return true;
    } catch {
      return false;
    }
  };

  return {
    claim(key, need) {
      if (!isSharable(key)) return undefined;
      if (store.isShared() && changes.position() !== undefined) return claimAt(key, need);
      counts.away += 1;
      return undefined;
    },
    isShared: store.isShared,
    async peek(key, longest) {
      if (!isSharable(key) || !store.isShared() || changes.position() === undefined) return undefined;
      const need = { mayWait: false, longest };
      const found = await read(key, need).catch(() => 'miss' as const);
      return typeof found !== 'string' && isUseful(found, need) ? found : undefined;
    },
    async compress(body, coding) {
      if (!store.isShared()) return compressed(body, coding);
      const key = `${coding}\n${digest('sha256', body, 'base64url')}`;
      const known = await readCoded(key, body, coding).catch(() => undefined);
      if (known !== undefined) return known;
      const bytes = await compressed(body, coding);
      if (bytes.length < body.length) void write(key, bytes, times.coded);
      return bytes;
    },
    put(key, page, at) {
      unstorable.delete(key);
      const ms = Math.floor(Math.max(page.staleUntilAt, page.errorUntilAt) - clock());
      if (ms <= 0 || !store.isShared() || !isSharable(key)) return;
      const writing = write(key, encodePage({ page, at }, hashOf(key)), ms);
      const fetch = held.get(key);
      if (fetch !== undefined) fetch.write = writing;
    },
    outdated(key) {
      const fetch = held.get(key);
      if (fetch !== undefined) fetch.isOutdated = true;
    },
    drop(key) {
      if (store.isShared() && isSharable(key)) void Promise.resolve(store.drop(key)).catch(() => undefined);
    },
    configure({ maxEntryBytes }) {
      maxBytes = maxEntryBytes;
    },
    counts: () => ({ ...counts }),
  };
}

/**
 * Returns a cache that also stores pages for all gateways. If changes can be missed, pages that may have been out of date
 * for too long are not served.
 */
export function followChanges(cache: PageCache, changes: ChangeFollower, pages: SharedPages): PageCache {
  return {
    ...cache,
    // A gateway that misses no change need not check at every lookup. A page that currently cannot be served stays in
    // memory, because the missing changes may still arrive.
    ...(changes.canMiss && {
      lookup(key, isPeek) {
        const found = cache.lookup(key, isPeek);
        return found !== undefined && changes.mayServe(found.entry.asOf) ? found : undefined;
      },
      lookupStale(key, maxStaleSeconds, isPeek) {
        const found = cache.lookupStale(key, maxStaleSeconds, isPeek);
        return found !== undefined && changes.mayServe(found.entry.asOf) ? found : undefined;
      },
    }),
    beginFill: (tags) => ({ ...cache.beginFill(tags), at: changes.position() }),
    store(key, fill, input) {
      const refusal = cache.store(key, fill, input);
      if (refusal !== undefined) {
        if (fill.generation !== cache.generation()) pages.outdated(key);
        return refusal;
      }
      const page = fill.at === undefined ? undefined : cache.lookup(key)?.entry;
      if (page !== undefined && fill.at !== undefined) pages.put(key, page, fill.at);
      return undefined;
    },
    adopt(key, shared, isPeek) {
      // A change may have been applied since the page was read.
      if (!changes.isValid(changingTags(key, shared.page.tags), shared.at)) return undefined;
      const found = cache.adopt(key, shared, isPeek);
      return found !== undefined && changes.mayServe(found.entry.asOf) ? found : undefined;
    },
    drop(key) {
      cache.drop(key);
      pages.drop(key);
    },
  } satisfies PageCache;
}
