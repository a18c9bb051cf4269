import { objectOf } from '../../lib/state-file.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import type { Verdict } from '../../comparison/comparator.ts';

/** One distinct difference, with the first pair of values, described so that they are not revealed. */
export interface Finding {
  readonly fingerprint: string;
  readonly operation: string;
  /** The status of the legacy server's response. */
  readonly status: number;
  readonly role: string;
  readonly keyword: string;
  readonly at: string;
  readonly message: string;
  readonly old: string;
  readonly new: string;
  /** The members of the object in which the difference was found, on both servers. */
  readonly beside: readonly (readonly [name: string, old: string, next: string])[];
  readonly verdicts: { readonly old: Verdict; readonly new: Verdict };
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

/**
 * The callers of an operation whose numbers are the smallest: a random sample, as the numbers are keyed hashes. Each has
 * the differences that were found in the responses to it.
 */
export type CallerSample = ReadonlyMap<number, readonly string[]>;

/**
 * What all gateways have counted about a second server. It is never changed; a change makes a new one. Its size is
 * bounded.
 */
export interface MirrorTotals {
  /** Identifies the second server. Counts of another one are never added. */
  readonly subject: string;
  readonly since: number;
  /** The counts. A key consists of words that are separated by line breaks; the first one says what is counted. */
  readonly sums: ReadonlyMap<string, number>;
  readonly callers: ReadonlyMap<string, CallerSample>;
  readonly findings: ReadonlyMap<string, Finding>;
}

/** Returns the totals before anything was counted. */
export const noTotals = (subject: string, since: number): MirrorTotals => ({
  subject,
  since,
  sums: new Map(),
  callers: new Map(),
  findings: new Map(),
});

/** The totals from which a gateway starts to merge after the shared ones were lost. They say nothing about what is known. */
export const LOST_TOTALS: MirrorTotals = noTotals('', 0);

/** The maximum number of callers in a sample. With as many, a bound for their share is accurate to 0.3%. */
export const MAX_SAMPLE = 1_000;
/** The maximum number of differences that are remembered for a caller. */
const MAX_OF_CALLER = 5;
/** Stands for further differences, which nobody can accept. */
export const MORE = '*';
const MAX_SUMS = 20_000;
/** The maximum number of distinct differences that are remembered. */
export const MAX_FINDINGS = 300;
const MAX_TEXT = 1_000;
const MAX_BESIDE = 100;

const cut = (text: string) => text.slice(0, MAX_TEXT);

/** Returns a difference without what is too long to be stored. The second server chooses the names of its fields. */
export function shortened(finding: Finding): Finding {
  const { role, at, message, old, new: next, beside } = finding;
  return {
    ...finding,
    role: cut(role),
    at: cut(at),
    message: cut(message),
    old: cut(old),
    new: cut(next),
    beside: beside.slice(0, MAX_BESIDE).map(([name, one, other]) => [cut(name), cut(one), cut(other)]),
  };
}

/** Counts of differences that are not remembered would leave no room for others. */
const isRemembered = (key: string, findings: MirrorTotals['findings']) =>
  !key.startsWith('finding\n') || findings.has(key.slice('finding\n'.length));

/** Adds what was counted since. */
export function addTotals(
  totals: MirrorTotals,
  counted: Pick<MirrorTotals, 'sums' | 'callers' | 'findings'>,
): MirrorTotals {
  if (counted.sums.size === 0 && counted.callers.size === 0 && counted.findings.size === 0) return totals;
  const findings = mergeFindings(totals.findings, counted.findings);
  const sums = new Map(totals.sums);
  for (const [key, count] of counted.sums) {
    const known = sums.get(key);
    if (known !== undefined || (sums.size < MAX_SUMS && isRemembered(key, findings)))
      sums.set(key, (known ?? 0) + count);
  }
  return { ...totals, sums, callers: mergeCallers(totals.callers, counted.callers), findings };
}

/** Merges the totals that this gateway has counted since `base` into those of all gateways. */
export function mergeTotals(base: MirrorTotals, mine: MirrorTotals, theirs: MirrorTotals): MirrorTotals {
  const findings = mergeFindings(theirs.findings, mine.findings);
  const sums = new Map(theirs.sums);
  for (const [key, own] of mine.sums) {
    const other = sums.get(key) ?? 0;
    // After a loss, nobody knows what is in both, so the higher count is closest to the truth.
    const merged = base === LOST_TOTALS ? Math.max(own, other) : other + Math.max(0, own - (base.sums.get(key) ?? 0));
    if (merged > 0 && (sums.has(key) || (sums.size < MAX_SUMS && isRemembered(key, findings)))) sums.set(key, merged);
  }
  return {
    subject: theirs.subject,
    since: Math.min(mine.since, theirs.since),
    sums,
    callers: mergeCallers(theirs.callers, mine.callers),
    findings,
  };
}

function mergeCallers(one: MirrorTotals['callers'], other: MirrorTotals['callers']): MirrorTotals['callers'] {
  const merged = new Map(one);
  for (const [operation, sample] of other) {
    const known = new Map(merged.get(operation));
    for (const [caller, found] of sample) known.set(caller, mergeFound(known.get(caller), found));
    const kept =
      known.size <= MAX_SAMPLE ? known : new Map([...known].toSorted(([a], [b]) => a - b).slice(0, MAX_SAMPLE));
    merged.set(operation, kept);
  }
  return merged;
}

/** Adds differences to those of a caller, in a fixed order, because gateways compare the text of what they share. */
export function mergeFound(known: readonly string[] = [], found: readonly string[]): readonly string[] {
  const all = [...new Set([...known, ...found])].toSorted();
  if (all.length === known.length) return known;
  return all.length <= MAX_OF_CALLER ? all : [...new Set([MORE, ...all])].toSorted().slice(0, MAX_OF_CALLER);
}

function mergeFindings(one: MirrorTotals['findings'], other: MirrorTotals['findings']): MirrorTotals['findings'] {
  const merged = new Map(one);
  for (const [fingerprint, finding] of other) {
    const known = merged.get(fingerprint);
    // The ledger has the others, too.
    if (known === undefined && merged.size >= MAX_FINDINGS) continue;
    const first = known === undefined || finding.firstSeenAt < known.firstSeenAt ? finding : known;
    merged.set(fingerprint, {
      ...first,
      lastSeenAt: Math.max(known?.lastSeenAt ?? 0, finding.lastSeenAt),
    });
  }
  return merged;
}

/** Returns totals as JSON. The order is always the same, because gateways compare the text. */
export function totalsJson({ subject, since, sums, callers, findings }: MirrorTotals) {
  return {
    subject,
    since,
    sums: sorted(sums),
    callers: sorted(callers).map(([operation, sample]) => [operation, [...sample].toSorted(([a], [b]) => a - b)]),
    findings: sorted(findings).map(([, finding]) => finding),
  };
}

const sorted = <T>(map: ReadonlyMap<string, T>): (readonly [string, T])[] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Reads totals from JSON. Throws an error that describes the problem if they are invalid. */
export function totalsFrom(value: unknown, place: string): MirrorTotals {
  const { subject, since, sums, callers, findings } = objectOf(value, place);
  if (typeof subject !== 'string' || !isCount(since)) throw new Error(`${place} must name its subject and beginning`);
  return {
    subject,
    since,
    sums: new Map(
      listOf(sums, `${place}.sums`, MAX_SUMS).map((entry, at) => {
        const [key, count] = pairOf(entry, `${place}.sums[${at}]`);
        if (!isText(key) || !isCount(count)) throw new Error(`${place}.sums[${at}] must be a key and a count`);
        return [key, count];
      }),
    ),
    callers: new Map(
      listOf(callers, `${place}.callers`, 1_000).map((entry, at) => {
        const [operation, sample] = pairOf(entry, `${place}.callers[${at}]`);
        if (!isText(operation)) throw new Error(`${place}.callers[${at}] must name an operation`);
        return [operation, sampleFrom(sample, `${place}.callers[${at}]`)];
      }),
    ),
    findings: new Map(
      listOf(findings, `${place}.findings`, MAX_FINDINGS).map((entry, at) => {
        const finding = findingFrom(entry, `${place}.findings[${at}]`);
        return [finding.fingerprint, finding];
      }),
    ),
  };
}

function sampleFrom(value: unknown, place: string): CallerSample {
  return new Map(
    listOf(value, place, MAX_SAMPLE).map((entry, at) => {
      const [caller, found] = pairOf(entry, `${place}[${at}]`);
      const list = listOf(found, `${place}[${at}]`, MAX_OF_CALLER);
      if (!isCount(caller) || !list.every(isText)) throw new Error(`${place}[${at}] must be a caller and differences`);
      return [caller, list];
    }),
  );
}

const TEXTS = ['fingerprint', 'operation', 'role', 'keyword', 'at', 'message', 'old', 'new'] as const;
const VERDICTS: readonly unknown[] = ['valid', 'invalid', 'unknown'] satisfies Verdict[];

function findingFrom(value: unknown, place: string): Finding {
  const finding = objectOf(value, place);
  const { status, beside, verdicts, firstSeenAt, lastSeenAt } = finding;
  const isVerdicts = isPlainObject(verdicts) && ['old', 'new'].every((side) => VERDICTS.includes(verdicts[side]));
  const isBeside = listOf(beside, `${place}.beside`, MAX_BESIDE).every(
    (row) => Array.isArray(row) && row.length === 3 && row.every(isText),
  );
  const isWhole = TEXTS.every((name) => isText(finding[name])) && [status, firstSeenAt, lastSeenAt].every(isCount);
  if (!isWhole || !isVerdicts || !isBeside) throw new Error(`${place} must be a difference`);
  return finding as unknown as Finding;
}

function listOf(value: unknown, place: string, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > max) throw new Error(`${place} must be a list of at most ${max}`);
  return value as unknown[];
}

function pairOf(value: unknown, place: string): readonly [unknown, unknown] {
  if (!Array.isArray(value) || value.length !== 2) throw new Error(`${place} must be a pair`);
  return [value[0], value[1]];
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
