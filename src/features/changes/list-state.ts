import { createHash } from 'node:crypto';
import type { Target } from './event.ts';

/** An item of a list, as far as finding changes depends on it. */
export interface ReadItem {
  readonly id: string;
  /** The value by which the list is sorted, highest first. Undefined if the item lacks it or the list is not sorted. */
  readonly by: number | undefined;
  /** When the item was created, in epoch milliseconds, as far as it says so. */
  readonly created: number | undefined;
  /** The values that make its version. Undefined in place of a member that the item lacks. */
  readonly version: readonly (string | undefined)[];
  /** The names for the growth of the counts that are the last values of the version. */
  readonly growths: readonly string[];
  /** True if nobody may learn of the item. */
  readonly hidden: boolean;
  readonly target: Target;
  readonly title: string | undefined;
  /** Returns the item as JSON text, without what is withheld. */
  readonly data: () => string;
}

/** An item that an earlier reading found: its id, its version, the value by which it is sorted, and its absences. */
type KnownItem = readonly [id: string, version: readonly (string | null)[], by: number | null, absences: number];

/**
 * What is known about a list. It is stored as JSON together with the events that follow from it, so after a crash both
 * are there, or neither is.
 */
export interface ListState {
  /** False until the first reading is complete. It finds no changes, but tells what is already there. */
  readonly isBegun: boolean;
  /** Where an incomplete first reading of an unsorted list continues: the number of pages that are already known. */
  readonly pagesKnown: number;
  /** True if the list says that it is sorted, but was not in its first reading. */
  readonly isUnsorted: boolean;
  /**
   * Everything that was in the list with a value up to this is old. Null if all items are known. The values of known items
   * are higher, as far as the list is sorted.
   */
  readonly floor: number | null;
  readonly known: readonly KnownItem[];
  /** The number of pages that the next reading must cover at least, because pages may have skipped items. */
  readonly depth: number;
}

/** The state of a list that was never read. */
export const UNREAD: ListState = { isBegun: false, pagesKnown: 0, isUnsorted: false, floor: null, known: [], depth: 1 };

/** A change that a reading has found. */
export interface FoundChange {
  /** `created`, `changed`, or the name for the growth of a count. */
  readonly what: string;
  readonly item: ReadItem;
}

/** How a reading ended. `truncated`: it reached the maximum number of items. `unsorted`: it had to read everything. */
export type ReadingOutcome = 'complete' | 'unsorted' | 'truncated';

/** What a reading has found. */
export interface ReadingResult {
  readonly outcome: ReadingOutcome;
  readonly state: ListState;
  /** The changes, in the order in which they happened, as far as the list tells. */
  readonly changes: readonly FoundChange[];
}

/** A reading of a list, from its first page. */
export interface Reading {
  /** The number of the next page, from 0. */
  readonly nextPage: number;
  /** Adds a page. Returns whether another page must be read. */
  add(items: readonly ReadItem[], isLast: boolean): boolean;
  /**
   * Returns the state to store before the next page, or undefined if nothing must be stored yet. Only the first reading
   * of an unsorted list is stored page by page: whatever is created after it has passed is then found by the next reading,
   * even if the process ends in between.
   */
  partial(): ListState | undefined;
  finish(): ReadingResult;
}

/** The limits of a reading. */
export interface ReadingLimits {
  readonly maxItems: number;
  /** The maximum number of known items of a sorted list. */
  readonly maxKnown?: number;
}

/**
 * The number of old items at the end of a page at which a reading of a sorted list stops. It is more than one, because
 * items that were written at the same time can become visible in another order.
 */
export const OVERLAP = 10;

/**
 * The number of pages in a row without anything new to a reading after which the list counts as read to its end. It is
 * more than one, because a page also repeats the one before if a full page of items was added in the meantime.
 */
const REPETITIONS = 3;

/** The number of items of a sorted list that are remembered. */
const MAX_KNOWN = 1_000;

/** An item that is absent from this many complete readings of an unsorted list is forgotten. One may have skipped it. */
const MAX_ABSENCES = 3;

/** The longest version that is stored as it is. */
const MAX_VERSION = 40;

/** Begins a reading of a list. `isSorted` states whether the contract says that the list is sorted. */
export function beginReading(state: ListState, isSorted: boolean, limits: ReadingLimits): Reading {
  const { maxItems, maxKnown = MAX_KNOWN } = limits;
  const known = new Map(state.known.map((one) => [one[0], one]));
  const read = new Map<string, ReadItem>();
  const found = new Map<string, FoundChange>();
  const firstPage = state.isBegun ? 0 : state.pagesKnown;
  let { isUnsorted } = state;
  let mustReadAll = !isSorted || isUnsorted;
  let pages = 0;
  let repetitions = 0;
  let deepest = 0;
  let total = state.isBegun ? 0 : state.known.length;
  let isTruncated = false;
  let isWhole = false;

  /** Returns whether nothing is new about an item, and notes what is. */
  const isOld = (item: ReadItem): boolean => {
    const before = known.get(item.id);
    if (before === undefined) {
      const { floor } = state;
      // In a sorted list, an unknown item with a low value was there before the first reading, or has been forgotten.
      if (isSorted && floor !== null && (item.by === undefined || item.by <= floor)) return true;
      const isFresh = floor === null || item.created === undefined || item.created > floor;
      found.set(item.id, { what: isFresh ? 'created' : 'changed', item });
      return false;
    }
    if (isSameVersion(before[1], item.version)) return true;
    found.set(item.id, { what: growthOf(before[1], item) ?? 'changed', item });
    return false;
  };

  return {
    get nextPage() {
      return firstPage + pages;
    },
    add(given, isLast) {
      const items = isSorted ? withEstimates(given) : given;
      pages += 1;
      total += given.length;
      // Pages that overlap because something was added in between repeat items. The later one is the newer one.
      const fresh = items.filter(({ id }) => !read.has(id));
      const old = items.map((item) => {
        read.set(item.id, item);
        return isOld(item);
      });
      if (old.includes(false)) deepest = pages;
      if (isSorted && !mustReadAll && !areSorted(items)) {
        mustReadAll = true;
        if (!state.isBegun) isUnsorted = true;
      }
      // Servers that limit page numbers repeat the last page.
      repetitions = fresh.length === 0 ? repetitions + 1 : 0;
      isWhole = isLast || items.length === 0 || repetitions === REPETITIONS;
      if (isWhole) return false;
      isTruncated = total >= maxItems;
      if (isTruncated) return false;
      if (mustReadAll) return true;
      if (!state.isBegun) return false;
      return pages < state.depth || old.slice(-OVERLAP).includes(false);
    },
    partial() {
      if (state.isBegun || !mustReadAll) return undefined;
      return { ...state, isUnsorted, pagesKnown: firstPage + pages, known: merged(known, read, isSorted) };
    },
    finish() {
      const outcome = isTruncated ? 'truncated' : mustReadAll && isSorted ? 'unsorted' : 'complete';
      // Without a complete reading, nothing can be said about an unsorted list.
      if (isTruncated && mustReadAll) return { outcome, state, changes: [] };
      const next = merged(known, read, isSorted);
      const remaining = mustReadAll && isWhole && firstPage === 0 ? withAbsences(next, read) : next;
      const bounded = mustReadAll ? { known: remaining, floor: state.floor } : forgetLowest(remaining, state, maxKnown);
      const begins = !state.isBegun;
      // After the first page of a sorted list, everything below its last item counts as old.
      const floor = begins && !mustReadAll && !isWhole ? lowest(read) : bounded.floor;
      return {
        outcome,
        state: {
          isBegun: true,
          pagesKnown: 0,
          isUnsorted,
          floor,
          known: bounded.known,
          depth: deepest > 1 ? pages : 1,
        },
        changes: begins ? [] : inOrder([...found.values()]),
      };
    },
  };
}

/**
 * Returns the items with a value for those that lack it: that of the item before, as the list is sorted, or else that of
 * the item after.
 */
function withEstimates(items: readonly ReadItem[]): readonly ReadItem[] {
  let last = items.find(({ by }) => by !== undefined)?.by;
  return items.map((item) => {
    last = item.by ?? last;
    return item.by === undefined && last !== undefined ? { ...item, by: last } : item;
  });
}

/** Returns whether items are sorted, apart from neighbors that were written at the same time. */
function areSorted(items: readonly ReadItem[]): boolean {
  const rising = items.filter(({ by = 0 }, at) => at > 0 && by > (items[at - 1]?.by ?? Infinity)).length;
  return rising <= Math.max(1, items.length / 10);
}

/**
 * Returns whether a version is that of a known item. A member that an item lacks says nothing, and neither does one that
 * earlier releases did not remember.
 */
function isSameVersion(before: KnownItem[1], version: ReadItem['version']): boolean {
  return version.every((value, at) => value === undefined || before[at] === undefined || short(value) === before[at]);
}

/** Returns the name for the growth of the first count that has grown since an item was known. */
function growthOf(before: KnownItem[1], { version, growths }: ReadItem): string | undefined {
  const first = version.length - growths.length;
  return growths.find((_, at) => Number(version[first + at]) > Number(before[first + at] ?? NaN));
}

/** Returns a part of a version in the form in which it is stored. */
function short(value: string): string {
  return value.length <= MAX_VERSION ? value : createHash('sha256').update(value).digest('base64url').slice(0, 22);
}

/** Returns the known items with those that were read. Members that an item lacks keep their earlier values. */
function merged(
  known: ReadonlyMap<string, KnownItem>,
  read: ReadonlyMap<string, ReadItem>,
  isSorted: boolean,
): readonly KnownItem[] {
  const next = new Map(known);
  for (const { id, version, by } of read.values()) {
    const before = known.get(id);
    const values = version.map((value, at) => (value === undefined ? (before?.[1][at] ?? null) : short(value)));
    next.set(id, [id, values, isSorted ? (by ?? before?.[2] ?? null) : null, 0]);
  }
  return [...next.values()];
}

/** Returns the items of a list that was read completely, without those that have been absent for some time. */
function withAbsences(items: readonly KnownItem[], read: ReadonlyMap<string, ReadItem>): readonly KnownItem[] {
  return items.flatMap(([id, version, by, absences]): KnownItem[] => {
    if (read.has(id)) return [[id, version, by, 0]];
    return absences + 1 >= MAX_ABSENCES ? [] : [[id, version, by, absences + 1]];
  });
}

/** Returns the known items of a sorted list within the limit. What has a lower value than those forgotten is old. */
function forgetLowest(items: readonly KnownItem[], { floor }: ListState, max: number) {
  const sorted = items.toSorted((a, b) => (b[2] ?? -Infinity) - (a[2] ?? -Infinity));
  const highest = sorted[max]?.[2];
  return {
    known: sorted.slice(0, max),
    floor: highest === undefined || highest === null ? floor : Math.max(floor ?? -Infinity, highest),
  };
}

function lowest(read: ReadonlyMap<string, ReadItem>): number | null {
  const values = [...read.values()].flatMap(({ by }) => by ?? []);
  return values.length === 0 ? null : Math.min(...values);
}

/** Sorts changes by the values of the list, lowest first. Lists have the latest item first, so equal ones are reversed. */
const inOrder = (changes: readonly FoundChange[]): readonly FoundChange[] =>
  changes.toReversed().toSorted((a, b) => (a.item.by ?? 0) - (b.item.by ?? 0));

/** Reads a stored state. Returns undefined if it is not one of this form. */
export function parseState(text: string): ListState | undefined {
  if (text === '') return undefined;
  const value = JSON.parse(text) as Partial<ListState> | null;
  return typeof value === 'object' && value !== null && Array.isArray(value.known) && value.isBegun !== undefined
    ? { ...UNREAD, ...value }
    : undefined;
}
