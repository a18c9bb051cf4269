import type { ErrorDetail } from '../errors/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { createTagGenerations } from '../../lib/tag-generations.ts';
import type { LogPosition } from '../model/change-log.ts';
import type { SharedMap } from '../sharing/sharing.ts';
import type { Paging } from '../model/operation.ts';
import type { PagingOptions } from './paging-options.ts';

/** Page counts learned from responses. Their keys are cache keys without `page` (docs/rules.md §5). */
export interface PageCounts {
  /**
   * Returns the learned count unless it is too old or one of its tags has since been dropped. If `isPeek` is true, the
   * store does not change.
   */
  learned(key: string, isPeek?: boolean): number | undefined;
  /** Returns the current generation. Call this before the request is sent upstream, and pass the result to `learn`. */
  generation(): number;
  /**
   * Stores a count and returns true. Returns false if the response has no count, as with an empty list, or if one of
   * the tags has been dropped since `generation`.
   */
  learn(key: string, pageCount: number | undefined, tags: readonly string[], generation: number): boolean;
  /**
   * Stores a count that another gateway has learned and returns true. Returns false if the count is invalid or too
   * old. If `isPeek` is true, the count is not stored.
   */
  adopt(key: string, count: Pick<Count, 'pageCount' | 'learnedAt'>, tags: readonly string[], isPeek?: boolean): boolean;
  /** Drops every count that has one of the tags. */
  drop(tags: Iterable<string>): void;
  dropAll(): void;
  readonly size: number;
}

interface Count {
  readonly pageCount: number;
  readonly learnedAt: number;
  readonly tags: readonly string[];
  /** The latest generation for which the tags are known to be unchanged. */
  generation: number;
}

/** Creates an empty store of page counts. */
export function createPageCounts(
  options: Pick<PagingOptions, 'maxAgeSeconds' | 'maxEntries'>,
  clock: Clock,
): PageCounts {
  const counts = createLruMap<string, Count>(options.maxEntries);
  const generations = createTagGenerations();

  const usable = (count: Count) => {
    const ageMs = clock() - count.learnedAt;
    if (ageMs < 0 || ageMs >= options.maxAgeSeconds * 1000) return false;
    const { current } = generations;
    if (count.generation !== current && !generations.unmoved(count.tags, count.generation)) return false;
    count.generation = current;
    return true;
  };

  return {
    learned(key, isPeek = false) {
      const count = isPeek ? counts.peek(key) : counts.get(key);
      if (count === undefined) return undefined;
      if (usable(count)) return count.pageCount;
      if (!isPeek) counts.delete(key);
      return undefined;
    },
    generation: () => generations.current,
    learn(key, pageCount, tags, generation) {
      if (generation !== generations.current && !generations.unmoved(tags, generation)) return false;
      if (!isCount(pageCount)) {
        counts.delete(key);
        return false;
      }
      counts.set(key, { pageCount, learnedAt: clock(), tags, generation });
      return true;
    },
    adopt(key, { pageCount, learnedAt }, tags, isPeek = false) {
      const count = {
        pageCount,
        learnedAt: Math.min(learnedAt, clock()),
        tags: [...tags],
        generation: generations.current,
      };
      if (!isCount(pageCount) || !usable(count)) return false;
      if (!isPeek) counts.set(key, count);
      return true;
    },
    drop: (tags) => generations.move(tags),
    dropAll() {
      generations.moveAll();
      counts.clear();
    },
    get size() {
      return counts.size;
    },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The page counts that gateways share. */
export interface SharedPageCounts {
  /** Returns whether another gateway might know the page count of a list. */
  mayKnow(key: string): boolean;
  /**
   * Returns the count that another gateway has learned, and stores it in memory unless `isPeek` is true. Never rejects.
   */
  find(key: string, isPeek?: boolean): Promise<number | undefined>;
}

/** The dependencies of shared page counts. */
interface SharedPageCountsParts {
  readonly clock: Clock;
  readonly maxAgeSeconds: number;
  /** Stores counts for all gateways. */
  readonly store: SharedMap;
  /** Returns whether the key has the same meaning in every process. */
  readonly isSharable: (key: string) => boolean;
  /** Returns the position of the latest change that this process has applied. */
  readonly position: () => LogPosition | undefined;
  /** Returns true if none of the tags has changed since the given position in the log. */
  readonly isValid: (key: string, tags: readonly string[], at: LogPosition) => boolean;
  /** Returns whether this process can currently receive changes from other gateways. Undefined if it misses none. */
  readonly isSynced: (() => boolean) | undefined;
}

/** A page count as stored outside the process. */
interface SharedCount {
  readonly pageCount: number;
  /** When the count was learned, in epoch milliseconds. */
  readonly learnedAt: number;
  readonly tags: readonly string[];
  readonly at: LogPosition;
}

/** How long a gateway waits before repeating a lookup that found no count, in milliseconds. */
const UNKNOWN_MS = 5_000;
const MAX_UNKNOWN = 5_000;

/** Returns page counts shared by several gateways, and the function that looks up other gateways' counts. */
export function sharePageCounts(
  counts: PageCounts,
  { clock, maxAgeSeconds, store, isSharable, position, isValid, isSynced }: SharedPageCountsParts,
): { readonly counts: PageCounts; readonly shared: SharedPageCounts } {
  const unknown = createLruMap<string, number>(MAX_UNKNOWN);
  const set = async (key: string, count: SharedCount) => {
    try {
      await store.set(key, Buffer.from(JSON.stringify(count)), maxAgeSeconds * 1000);
    } catch {
      // The count is also in memory, and other gateways learn it themselves.
    }
  };
  const get = async (key: string): Promise<SharedCount | undefined> => {
    try {
      const value = await store.get(key);
      return Buffer.isBuffer(value) ? parse(value.toString()) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    counts: {
      ...counts,
      // With an outdated count, existing pages could be refused.
      ...(isSynced && { learned: (key, isPeek) => (isSynced() ? counts.learned(key, isPeek) : undefined) }),
      learn(key, pageCount, tags, generation) {
        if (!counts.learn(key, pageCount, tags, generation) || pageCount === undefined) return false;
        // The tags have not changed since the request began, so the count is also valid at the current position.
        const at = position();
        if (at === undefined || !store.isShared() || !isSharable(key)) return true;
        const count: SharedCount = { pageCount, learnedAt: clock(), tags, at };
        void set(key, count);
        return true;
      },
      get size() {
        return counts.size;
      },
    },
    shared: {
      mayKnow: (key) => store.isShared() && isSharable(key) && (unknown.get(key) ?? 0) <= clock(),
      async find(key, isPeek = false) {
        const count = await get(key);
        const isUsable =
          count !== undefined && isValid(key, count.tags, count.at) && counts.adopt(key, count, count.tags, isPeek);
        if (isUsable) return count.pageCount;
        if (!isPeek) unknown.set(key, clock() + UNKNOWN_MS);
        return undefined;
      },
    },
  };
}

/** Parses a stored count. Returns undefined if the string is not a count. */
function parse(text: string): SharedCount | undefined {
  try {
    const { pageCount, learnedAt, tags, at } = JSON.parse(text) as Partial<SharedCount>;
    const isKnown =
      Number.isSafeInteger(pageCount) &&
      (pageCount as number) >= 0 &&
      Number.isFinite(learnedAt) &&
      Array.isArray(tags) &&
      tags.every((tag) => typeof tag === 'string') &&
      typeof at?.lineage === 'string' &&
      Number.isSafeInteger(at.number);
    return isKnown ? ({ pageCount, learnedAt, tags, at } as SharedCount) : undefined;
  } catch {
    return undefined;
  }
}

/** The page to request from the upstream. If the size is undefined, the upstream uses its default size. */
interface EffectivePage {
  readonly page: number;
  readonly pageSize: number | undefined;
}

/** Either a page within its bounds, or the reason why the request is refused. */
type BoundPage = { readonly ok: true; readonly effective: EffectivePage } | ({ readonly ok: false } & PageRefusal);

/**
 * Checks a page against its bounds before the request is sent upstream (docs/rules.md §5). The list may have gained a
 * page since its count was learned, so a page is refused only if its number exceeds the count by more than 1. The first
 * page is never refused. The same comparison is used for lists whose page numbers begin at 0, so one additional page
 * past their end is forwarded to the upstream.
 */
export function boundPage(requested: {
  /** The requested page. Undefined if the parameter is absent. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly paging: Paging;
  readonly learnedCount: number | undefined;
  readonly options: Pick<PagingOptions, 'maxPageSize'>;
}): BoundPage {
  const { paging, pageSize, learnedCount, options } = requested;
  const page = requested.page ?? paging.firstPage;
  if (!isInteger(page, 0)) return refused(pageRefusal('page', PAGE_BOUND));
  if (pageSize !== undefined && !isInteger(pageSize, 1)) return refused(pageSizeRefusal(options));
  if (pageSize !== undefined && pageSize > options.maxPageSize)
    return refused(pageSizeRefusal(options, `pageSize ${pageSize} exceeds the maximum of ${options.maxPageSize}`));
  if (paging.hasPageCount && learnedCount !== undefined && page > learnedCount + 1) {
    return refused(beyondLastPage(page, learnedCount));
  }
  return { ok: true, effective: { page, pageSize } };
}

function refused(refusal: PageRefusal): BoundPage {
  return { ok: false, ...refusal };
}

function isInteger(value: number, minimum: number): boolean {
  return Number.isSafeInteger(value) && value >= minimum;
}

/** The requested page and the page count in the response. */
export interface ReturnedPage {
  /**
   * The page number in the request. The response may contain a different number, because some servers return the last
   * page if the requested page does not exist.
   */
  readonly page: number;
  /** The page count in the response. Undefined if the list is empty or the response contains no page count. */
  readonly pageCount: number | undefined;
  readonly firstPage: number;
}

/**
 * Returns why a page is refused if its number exceeds the page count in its own response, and undefined for any other
 * page. Empty lists and first pages are never refused (docs/rules.md §5).
 */
export function pageOutOfBounds({ page, pageCount, firstPage }: ReturnedPage): PageRefusal | undefined {
  if (page <= firstPage || !isCount(pageCount)) return undefined;
  return page > pageCount ? beyondLastPage(page, pageCount) : undefined;
}

/** Why a page is refused: the error code, the parameter, and a message with the requested and allowed values. */
export interface PageRefusal {
  readonly code: 'page_out_of_bounds' | 'page_size_out_of_bounds';
  readonly message: string;
  readonly detail: ErrorDetail;
  /** The bound that the value exceeds, without the value itself, so that it can be stored in the ledger. */
  readonly bound: string;
}

/** Creates the reason for refusing a `page` or `pageSize` value. By default, the message is the bound. */
export function pageRefusal(name: 'page' | 'pageSize', bound: string, message = bound): PageRefusal {
  const code = name === 'page' ? 'page_out_of_bounds' : 'page_size_out_of_bounds';
  return { code, message, detail: { in: 'query', name, message }, bound };
}

/** The bound of a `page` that does not depend on the list. */
export const PAGE_BOUND = 'page must be sent at most once, as an integer of at least 0';

/** Creates the reason for refusing a `pageSize`. By default, the message states the allowed values. */
export function pageSizeRefusal(
  { maxPageSize }: Pick<PagingOptions, 'maxPageSize'>,
  message = `pageSize must be an integer from 1 to ${maxPageSize}`,
): PageRefusal {
  return pageRefusal(
    'pageSize',
    `pageSize must be an integer from 1 to ${maxPageSize} (pageBounds.maxPageSize)`,
    message,
  );
}

/** Creates the refusal for a page beyond the last page. `pageCount` is the number of pages. */
function beyondLastPage(page: number, pageCount: number): PageRefusal {
  const bound = 'page must not exceed the page count of the list (pageCount in its responses)';
  return pageRefusal('page', bound, `page ${page} exceeds the page count, ${pageCount}`);
}
