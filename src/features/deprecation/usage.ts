import { objectOf } from '../../lib/state-file.ts';
import { DAY_MS } from '../../lib/clock.ts';

/** What is counted: the operation as a whole, one of its query parameters, or a field that a projection requests. */
export const PARTS = ['operation', 'parameter', 'field'] as const;

/** How often one caller has requested a part of an operation. Instants are in epoch milliseconds. */
export interface UsageRow {
  readonly operation: string;
  readonly part: (typeof PARTS)[number];
  /** The name of the parameter or field. Empty for the operation as a whole. */
  readonly name: string;
  /** The caller's tag or, for callers without a name that can be trusted, a word. */
  readonly caller: string;
  readonly count: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** The counts of usage. They are never changed; a change makes new ones. */
export interface Usage {
  /** The rows by their keys. */
  readonly rows: ReadonlyMap<string, UsageRow>;
  /** The number of rows that were removed because there were too many, so that counts may be too low. */
  readonly removed: number;
}

/** The bounds of the counts. */
export interface UsageLimits {
  readonly maxRows: number;
  readonly retentionDays: number;
  /** Returns whether what a row counts is deprecated. Such rows are removed last. */
  readonly isDeprecated: (row: Pick<UsageRow, 'operation' | 'part' | 'name'>) => boolean;
}

/** The counts before anything has been counted. */
export const NO_USAGE: Usage = { rows: new Map(), removed: 0 };

/**
 * The counts from which a gateway starts to merge after the shared ones were lost and begun again. They say nothing about
 * what other gateways have already counted.
 */
export const LOST_USAGE: Usage = { rows: new Map(), removed: 0 };

/**
 * The mark of a tag whose name the caller only claims. Anyone can claim any number of names, so their rows are removed
 * first.
 */
export const CLAIMED = '~';

/** Returns the key of a row. None of the parts can contain a line break. */
export const keyOf = ({ operation, part, name, caller }: Omit<UsageRow, 'count' | 'firstSeen' | 'lastSeen'>): string =>
  `${operation}\n${part}\n${name}\n${caller}`;

/** Adds rows to the counts. */
export function withRows({ rows, removed }: Usage, added: Iterable<readonly [key: string, row: UsageRow]>): Usage {
  const next = new Map(rows);
  for (const [key, row] of added) next.set(key, sum(next.get(key), row));
  return { rows: next, removed };
}

function sum(one: UsageRow | undefined, other: UsageRow): UsageRow {
  if (one === undefined) return other;
  return { ...span(one, other), count: one.count + other.count };
}

const span = (one: UsageRow, other: UsageRow): UsageRow => ({
  ...one,
  firstSeen: Math.min(one.firstSeen, other.firstSeen),
  lastSeen: Math.max(one.lastSeen, other.lastSeen),
});

/** Removes rows that are too old, and rows beyond the maximum, least important first. */
export function bounded(usage: Usage, { maxRows, retentionDays, isDeprecated }: UsageLimits, now: number): Usage {
  const oldest = now - retentionDays * DAY_MS;
  const recent = [...usage.rows].filter(([, { lastSeen }]) => lastSeen >= oldest);
  const excess = recent.length - maxRows;
  if (excess <= 0 && recent.length === usage.rows.size) return usage;
  if (excess <= 0) return { ...usage, rows: new Map(recent) };
  const worth = (row: UsageRow) => (row.caller.startsWith(CLAIMED) ? 0 : 2) + (isDeprecated(row) ? 1 : 0);
  const ranked = recent
    .map(([key, row]) => ({ key, row, worth: worth(row) }))
    .toSorted((a, b) => b.worth - a.worth || b.row.lastSeen - a.row.lastSeen || (a.key < b.key ? -1 : 1));
  return {
    rows: new Map(ranked.slice(0, maxRows).map(({ key, row }) => [key, row])),
    removed: usage.removed + excess,
  };
}

/**
 * Merges the counts that this gateway has added since `base` into those of all gateways. A row that another gateway has
 * removed comes back only with what was counted since.
 */
export function mergeUsage(base: Usage, mine: Usage, theirs: Usage): Usage {
  const rows = new Map(theirs.rows);
  for (const [key, own] of mine.rows) {
    const other = theirs.rows.get(key);
    // After a loss, nobody knows which counts are in both, so the higher one is closest to the truth.
    if (base === LOST_USAGE) {
      rows.set(key, other === undefined ? own : { ...span(own, other), count: Math.max(own.count, other.count) });
      continue;
    }
    const added = own.count - (base.rows.get(key)?.count ?? 0);
    if (added > 0) rows.set(key, sum(other, { ...own, count: added }));
  }
  const removed =
    base === LOST_USAGE
      ? Math.max(mine.removed, theirs.removed)
      : theirs.removed + Math.max(0, mine.removed - base.removed);
  return { rows, removed };
}

/** Returns the counts as JSON. The order is always the same, because gateways compare the text. */
export function usageJson({ rows, removed }: Usage) {
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    removed,
    rows: sorted.map(([, { operation, part, name, caller, count, firstSeen, lastSeen }]) => [
      operation,
      part,
      name,
      caller,
      count,
      firstSeen,
      lastSeen,
    ]),
  };
}

// No bound of the configuration is higher.
const MAX_ROWS = 20_000;

/** Reads counts from JSON. Throws an error that describes the problem if they are invalid. */
export function usageFrom(value: unknown, place: string): Usage {
  const { removed, rows } = objectOf(value, place);
  if (!isCount(removed)) throw new Error(`${place}.removed must be a whole number`);
  if (!Array.isArray(rows) || rows.length > MAX_ROWS) throw new Error(`${place}.rows must be a list`);
  const read = rows.map((row: unknown, index) => rowFrom(row, `${place}.rows[${index}]`));
  return { removed, rows: new Map(read.map((row) => [keyOf(row), row])) };
}

function rowFrom(value: unknown, place: string): UsageRow {
  const [operation, part, name, caller, count, firstSeen, lastSeen] = Array.isArray(value) ? (value as unknown[]) : [];
  const known = PARTS.find((one) => one === part);
  if (!isText(operation) || known === undefined || !isText(name) || !isText(caller))
    throw new Error(`${place} must name an operation, a part and a caller`);
  if (!isCount(count) || !isCount(firstSeen) || !isCount(lastSeen)) throw new Error(`${place} must contain counts`);
  return { operation, part: known, name, caller, count, firstSeen, lastSeen };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
