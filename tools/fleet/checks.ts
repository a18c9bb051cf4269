import type { FillEvent, ReadEvent, Window, WriteEvent } from './events.ts';
import { isWithin } from './events.ts';

/** Returns the tags of the page with this index. */
type TagsOf = (page: number) => readonly string[];

/**
 * Returns a function that measures how outdated a read was. The result is the time, in milliseconds, between the
 * response to the first write missing from the page and the start of the read. It is 0 if the page shows all writes.
 */
export function createStaleness(
  writes: readonly WriteEvent[],
  tagsOf: TagsOf,
): (read: Pick<ReadEvent, 'startedAt' | 'page' | 'seen'>) => number {
  const byTag = new Map<string, WriteEvent[]>();
  for (const write of writes)
    for (const tag of write.tags) {
      const tagged = byTag.get(tag);
      if (tagged === undefined) byTag.set(tag, [write]);
      else tagged.push(write);
    }
  return ({ startedAt, page, seen }) => {
    let longest = 0;
    for (const tag of tagsOf(page))
      for (const { number, respondedAt } of byTag.get(tag) ?? [])
        if (number > seen.version) longest = Math.max(longest, startedAt - respondedAt);
    return longest;
  };
}

/** Returns the reads whose caller received a copy meant for another caller or role. */
export function leaksOf(reads: readonly ReadEvent[]): readonly ReadEvent[] {
  return reads.filter(({ audience, seen }) => seen.audience !== audience);
}

/** The rules for judging fetches. */
interface FillRules {
  /**
   * The age at which a page may be refetched: the freshness lifetime minus the final part, during which the page is
   * refreshed early.
   */
  readonly freshMs: number;
  /** The maximum time from the response to a write until its purge reaches a gateway. */
  readonly purgeSlackMs: number;
}

/** The numbers of fetches during the steady windows, grouped by reason. */
interface FillCounts {
  /**
   * Necessary fetches: the first fetch of a page, and the first fetch after its freshness lifetime has ended or a purge
   * has removed it. Each of these fetches begins a period.
   */
  readonly periods: number;
  /** Unnecessary fetches while no purge was in progress. */
  readonly excess: readonly FillEvent[];
  /** Unnecessary fetches while a purge was in progress. */
  readonly excessAtPurges: readonly FillEvent[];
  /** The largest number of fetches of a single page in one period. */
  readonly mostPerPeriod: number;
}

/**
 * Counts the fetches per period for each page and audience. A period begins when the page from the last fetch is no
 * longer fresh, or when a purge removes it. Each purge justifies only one fetch of each page that it purged.
 */
export function countFills(
  fills: readonly FillEvent[],
  writes: readonly WriteEvent[],
  windows: readonly Window[],
  tagsOf: TagsOf,
  { freshMs, purgeSlackMs }: FillRules,
): FillCounts {
  const excess: FillEvent[] = [];
  const excessAtPurges: FillEvent[] = [];
  let periods = 0;
  let mostPerPeriod = 0;
  for (const window of windows) {
    const inside = fills.filter(({ at }) => isWithin(window, at));
    for (const copies of Map.groupBy(inside, ({ page, audience }) => `${page} ${audience}`).values()) {
      const tags = new Set(tagsOf(copies[0]?.page ?? 0));
      const purges = writes.filter((write) => write.tags.some((tag) => tags.has(tag)));
      const used = new Set<WriteEvent>();
      let last: FillEvent | undefined;
      let inPeriod = 0;
      for (const fill of copies.toSorted((one, other) => one.at - other.at)) {
        const previous = last;
        last = fill;
        const isUnderway = ({ effectAt, respondedAt }: WriteEvent) =>
          previous === undefined || (effectAt <= fill.at && respondedAt + purgeSlackMs >= previous.at);
        const isExpired = previous === undefined || fill.at - previous.at >= freshMs;
        const purge = isExpired ? undefined : purges.find((one) => !used.has(one) && isUnderway(one));
        if (isExpired || purge !== undefined) {
          if (purge !== undefined) used.add(purge);
          periods += 1;
          inPeriod = 1;
        } else {
          inPeriod += 1;
          (purges.some(isUnderway) ? excessAtPurges : excess).push(fill);
        }
        mostPerPeriod = Math.max(mostPerPeriod, inPeriod);
      }
    }
  }
  return { periods, excess, excessAtPurges, mostPerPeriod };
}

/** Where a page came from, according to its `Cache-Status` header. */
export type CacheResult = 'memory' | 'shared' | 'collapsed' | 'fetched';

/** Returns the cache result in a `Cache-Status` header (RFC 9211). */
export function cacheResult(cacheStatus: string): CacheResult {
  if (/;\s*detail=shared/.test(cacheStatus)) return 'shared';
  if (/;\s*hit\b/.test(cacheStatus)) return 'memory';
  return /;\s*collapsed\b/.test(cacheStatus) ? 'collapsed' : 'fetched';
}
