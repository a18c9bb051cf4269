import { createHash } from 'node:crypto';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { EntryOptions } from './options.ts';

/** A period in which requests are refused, so that clients notice before the end. Instants are in epoch milliseconds. */
export interface Brownout {
  /** Identifies the period of these operations: another period has another id, so that it needs a decision of its own. */
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** Something that is deprecated. Instants are in epoch milliseconds. */
export interface DeprecatedEntry extends Pick<
  EntryOptions,
  'operations' | 'parameter' | 'link' | 'successor' | 'note' | 'dryRun' | 'refuseAfterSunset'
> {
  readonly since: number;
  readonly sunset: number | undefined;
  /** In the order in which they begin. */
  readonly brownouts: readonly Brownout[];
}

/** Why a request for something deprecated is refused. */
export type Ending =
  | { readonly reason: 'brownout'; readonly entry: DeprecatedEntry; readonly until: number }
  | { readonly reason: 'sunset'; readonly entry: DeprecatedEntry };

/** Returns whether an operator has revoked a brown-out. */
export type IsRevoked = (brownout: string) => boolean;

/** Everything that is deprecated. */
export interface DeprecatedEntries {
  readonly all: readonly DeprecatedEntry[];
  /** Returns the entries about an operation that apply to a request with these query parameters. */
  of(operation: string, parameters: readonly string[]): readonly DeprecatedEntry[];
  /** Returns whether something of an operation is or will be refused, unless a brown-out is revoked. */
  mayRefuse(operation: string): boolean;
}

const MAX_LISTS = 400;

const NONE: readonly DeprecatedEntry[] = [];

/** Reads the entries of the configuration. */
export function readEntries(given: readonly EntryOptions[]): DeprecatedEntries {
  const all = given.map(toEntry);
  const byOperation = Map.groupBy(
    all.flatMap((entry) => entry.operations.map((operation) => ({ operation, entry }))),
    ({ operation }) => operation,
  );
  const found = new Map([...byOperation].map(([operation, list]) => [operation, list.map(({ entry }) => entry)]));
  const withParameter = new Set(
    all.flatMap(({ operations, parameter }) => (parameter === undefined ? [] : operations)),
  );
  // The same entries are always the same list, so what follows from them is computed only once.
  const lists = boundedMemo(MAX_LISTS, (_key: string, list: readonly DeprecatedEntry[]) => list);
  const matching = (operation: string, parameters: readonly string[]) => {
    const list = found.get(operation);
    if (list === undefined) return NONE;
    // Most entries are about a whole operation, and then every request concerns the same ones.
    if (!withParameter.has(operation)) return list;
    const own = list.filter(({ parameter }) => parameter === undefined || parameters.includes(parameter));
    return lists([operation, ...own.map((one) => all.indexOf(one))].join(' '), own);
  };
  return {
    all,
    of: matching,
    mayRefuse: (operation) => (found.get(operation) ?? NONE).some((one) => !one.dryRun && hasEnding(one)),
  };
}

const hasEnding = ({ brownouts, sunset, refuseAfterSunset }: DeprecatedEntry) =>
  brownouts.length > 0 || (refuseAfterSunset && sunset !== undefined);

function toEntry(given: EntryOptions): DeprecatedEntry {
  const { operations, parameter, since, sunset, brownouts } = given;
  return {
    ...given,
    since: Date.parse(since),
    sunset: sunset === undefined ? undefined : Date.parse(sunset),
    brownouts: brownouts
      .map((one) => ({ from: Date.parse(one.from), to: Date.parse(one.to) }))
      .map(({ from, to }) => ({ id: idOf([...operations.toSorted(), parameter ?? '', from, to]), from, to }))
      .toSorted((a, b) => a.from - b.from),
  };
}

const idOf = (parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 10);

/**
 * Returns why a request at `now` that these entries concern would be refused. The end precedes a brown-out, because
 * waiting does not help. Undefined if it would not.
 */
export function endingAt(entries: readonly DeprecatedEntry[], now: number, isRevoked: IsRevoked): Ending | undefined {
  for (const entry of entries)
    if (entry.refuseAfterSunset && entry.sunset !== undefined && entry.sunset <= now)
      return { reason: 'sunset', entry };
  for (const entry of entries)
    for (const { id, from, to } of entry.brownouts)
      if (from <= now && now < to && !isRevoked(id))
        return { reason: 'brownout', entry, until: endOf(entries, to, isRevoked) };
  return undefined;
}

/** Returns when brown-outs end that overlap: whoever waits for an earlier end would be refused again. */
function endOf(entries: readonly DeprecatedEntry[], to: number, isRevoked: IsRevoked): number {
  const later = entries
    .flatMap(({ brownouts }) => brownouts)
    .find((one) => one.from <= to && to < one.to && !isRevoked(one.id));
  return later === undefined ? to : endOf(entries, later.to, isRevoked);
}

/**
 * Returns the brown-out that is in progress or comes next. Its end is that of all brown-outs that overlap with it.
 * Undefined if there is none.
 */
export function nextBrownout(
  entries: readonly DeprecatedEntry[],
  now: number,
  isRevoked: IsRevoked,
): Brownout | undefined {
  let next: Brownout | undefined;
  for (const { brownouts } of entries)
    for (const one of brownouts)
      if (now < one.to && one.from < (next?.from ?? Infinity) && !isRevoked(one.id)) next = one;
  return next && { ...next, to: endOf(entries, next.to, isRevoked) };
}

/** Returns the name of what an entry is about, such as `listBooks` or `sort of listBooks, listAuthors`. */
export function subjectOf({ operations, parameter }: Pick<DeprecatedEntry, 'operations' | 'parameter'>): string {
  const names = operations.join(', ');
  return parameter === undefined ? names : `${parameter} of ${names}`;
}

/** Formats an instant without fractions of a second, such as 2026-05-04T10:00:00Z. */
export const isoOf = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
