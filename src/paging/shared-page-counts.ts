import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { LogPosition } from '../model/change-log.ts';
import type { PageCounts } from './page-counts.ts';

/** The page counts that gateways share. */
export interface SharedPageCounts {
  /** Returns whether another gateway may know the count of a list. */
  mayKnow(key: string): boolean;
  /** Returns the count that another gateway has learned, which is from then on in memory. Never rejects. */
  find(key: string): Promise<number | undefined>;
}

/** What the shared page counts need from the other shared state. */
interface SharedPageCountsParts {
  readonly clock: Clock;
  readonly maxAgeSeconds: number;
  /** Stores texts for all gateways. The promises reject if they are unavailable. */
  readonly store: {
    isAvailable(): boolean;
    get(key: string): Promise<string | undefined>;
    set(key: string, text: string, ms: number): Promise<unknown>;
  };
  /** Returns whether the key has the same meaning in every process. */
  readonly isSharable: (key: string) => boolean;
  /** Returns the position of the latest change that was applied here. */
  readonly position: () => LogPosition | undefined;
  /** Returns whether none of the tags has changed since a position of the log. */
  readonly isValid: (key: string, tags: readonly string[], at: LogPosition) => boolean;
  /** Returns whether changes by other gateways arrive. */
  readonly isSynced: () => boolean;
}

/** A count as it is stored outside the process. */
interface SharedCount {
  readonly pageCount: number;
  /** Epoch milliseconds. */
  readonly learnedAt: number;
  readonly tags: readonly string[];
  readonly at: LogPosition;
}

/** How long a gateway does not ask again for a count that nobody knew. */
const UNKNOWN_MS = 5_000;
const MAX_UNKNOWN = 5_000;

/** Returns page counts that several gateways share, and the function that looks up the counts of the others. */
export function sharePageCounts(
  counts: PageCounts,
  { clock, maxAgeSeconds, store, isSharable, position, isValid, isSynced }: SharedPageCountsParts,
): { readonly counts: PageCounts; readonly shared: SharedPageCounts } {
  const unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN });
  const maxAgeMs = maxAgeSeconds * 1000;
  return {
    counts: {
      ...counts,
      // A count that other gateways may have changed would refuse pages that exist.
      learned: (key) => (isSynced() ? counts.learned(key) : undefined),
      learn(key, list, tags, generation) {
        if (!counts.learn(key, list, tags, generation)) return false;
        // No change to the tags has arrived since the request began, so the current position applies to the count too.
        const at = position();
        if (at === undefined || !isSharable(key) || !store.isAvailable()) return true;
        const count: SharedCount = { pageCount: list.pageCount as number, learnedAt: clock(), tags, at };
        store.set(key, JSON.stringify(count), maxAgeMs).catch(() => undefined);
        return true;
      },
      get size() {
        return counts.size;
      },
    },
    shared: {
      mayKnow: (key) => isSharable(key) && store.isAvailable() && (unknown.get(key) ?? 0) <= clock(),
      async find(key) {
        const text = await store.get(key).catch(() => undefined);
        const count = text === undefined ? undefined : parse(text);
        const isUsable =
          count !== undefined && isValid(key, count.tags, count.at) && counts.adopt(key, count, count.tags);
        if (isUsable) return counts.learned(key);
        unknown.set(key, clock() + UNKNOWN_MS);
        return undefined;
      },
    },
  };
}

/** Returns a stored count, or undefined if the text is something else. */
function parse(text: string): SharedCount | undefined {
  try {
    const { pageCount, learnedAt, tags, at } = JSON.parse(text) as Partial<SharedCount>;
    const isCount =
      Number.isSafeInteger(pageCount) &&
      Number.isFinite(learnedAt) &&
      Array.isArray(tags) &&
      tags.every((tag) => typeof tag === 'string') &&
      typeof at?.lineage === 'string' &&
      Number.isSafeInteger(at.number);
    return isCount ? ({ pageCount, learnedAt, tags, at } as SharedCount) : undefined;
  } catch {
    return undefined;
  }
}
