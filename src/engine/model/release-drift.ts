import { hash } from 'node:crypto';
import { shareBounds } from '../../lib/share-bounds.ts';
import { shareWords } from '../../lib/share-words.ts';
import type { LedgerEntry, LedgerSnapshot } from './ledger-entry.ts';
import { type ReleaseStatistics, shortestOf, UNLABELLED } from './release-statistics.ts';
import { RELEASE_DRIFT } from './violation.ts';

/** The z-score for a two-sided confidence level of 99%. Hundreds of counts are compared, so 95% would be too low. */
const Z = 2.576;
/** The minimum number of responses of each release for a comparison of durations or of statuses. */
const MIN_RESPONSES = 20;
/** The minimum number of sampled responses of each release for a statement about a field. */
const MIN_SAMPLED = 5;
/** A field counts as always present if at least this share of the sampled responses with such objects had it. */
const ALWAYS = 0.98;
/** The factor by which a share or a duration must change, and the minimum change of a share and a duration. */
const FACTOR = 2;
const MIN_SHARE_CHANGE = 0.05;
const MIN_MS_CHANGE = 20;

/** The statuses of an outage. They say that the server was unavailable, not that a release differs. */
const OUTAGES = /^status 50[234](?: |$)/;

/** Statistics of one operation on one side of a comparison. */
interface Side {
  readonly label: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** A difference between two releases. */
interface Drift {
  readonly keyword: 'field-gone' | 'slower' | 'error-share';
  readonly location: LedgerEntry['location'];
  readonly at: string;
  readonly message: string;
  /** The number of responses of the later release on which the statement is based. */
  readonly responses: number;
}

/**
 * Returns the snapshot together with the differences between a release and the one before it, as violations of their
 * own category. `release` is the later release: by default, the one that was seen last.
 */
export function withLatestDrift(snapshot: LedgerSnapshot, release?: string): LedgerSnapshot {
  const labels = [...new Set(snapshot.statistics.map((one) => one.release))].filter((label) => label !== UNLABELLED);
  const later = release ?? labels.at(-1);
  if (later === undefined || !labels.includes(later)) return snapshot;
  const earlier = labels.slice(0, labels.indexOf(later)).toReversed();
  const found = snapshot.statistics.flatMap((after) => {
    if (after.release !== later) return [];
    const candidates = earlier.flatMap(
      (label) => snapshot.statistics.find((one) => one.release === label && one.operation === after.operation) ?? [],
    );
    // A release that was in use only briefly says too little about what was normal before.
    const before = candidates.find(({ counts }) => responsesOf(counts) >= MIN_RESPONSES) ?? candidates[0];
    return before === undefined ? [] : driftEntries(before, after, snapshot.takenAt);
  });
  return withDrift(snapshot, found);
}

/**
 * Returns the snapshot together with the differences between one release, by default the one seen last, and the last
 * release in the statistics of the earlier side of a comparison.
 */
export function withDriftFrom(
  snapshot: LedgerSnapshot,
  earlier: readonly ReleaseStatistics[],
  release = snapshot.statistics.at(-1)?.release,
): LedgerSnapshot {
  const first = earlier.at(-1)?.release;
  const found = snapshot.statistics.flatMap((after) => {
    const before = earlier.find((one) => one.operation === after.operation && one.release === first);
    return after.release !== release || before === undefined ? [] : driftEntries(before, after, snapshot.takenAt);
  });
  return withDrift(snapshot, found);
}

/** Returns the snapshot without any drift. A JSON report can contain the drift that was found when it was written. */
export const withoutDrift = (snapshot: LedgerSnapshot): LedgerSnapshot => withDrift(snapshot, []);

function withDrift(snapshot: LedgerSnapshot, drift: readonly LedgerEntry[]): LedgerSnapshot {
  const rest = snapshot.entries.filter(({ category }) => category !== RELEASE_DRIFT);
  // If the contract requires the field, its absence is already a violation of its own.
  const missing = new Set(rest.flatMap((one) => (one.keyword === 'required' ? [`${one.operation} ${one.at}`] : [])));
  const own = drift.filter(
    ({ operation, keyword, at }) => keyword !== 'field-gone' || !missing.has(`${operation} ${at}`),
  );
  return { ...snapshot, entries: [...own, ...rest] };
}

function driftEntries(before: ReleaseStatistics, after: ReleaseStatistics, takenAt: number): LedgerEntry[] {
  const sides = [
    { label: before.release, counts: before.counts },
    { label: after.release, counts: after.counts },
  ] as const;
  const found = [...goneFields(...sides), ...slowerResponses(...sides), ...shiftedShares(...sides)];
  return found.map(({ keyword, location, at, message, responses }) => ({
    // An acceptance applies to one release only: the next release may make things worse.
    fingerprint: toFingerprint(`${after.operation}\n${RELEASE_DRIFT}\n${keyword}\n${at}\n${after.release}`),
    operation: after.operation,
    status: undefined,
    check: 'responses',
    direction: 'response',
    category: RELEASE_DRIFT,
    location,
    at,
    keyword,
    schemaPath: '',
    message,
    suggestion: undefined,
    count: responses,
    firstSeenAt: takenAt,
    lastSeenAt: takenAt,
    callers: 0,
    releases: { [after.release]: responses },
    samples: [],
  }));
}

// As in the ledger, a fingerprint starts with a letter, because YAML could read other text as a number.
function toFingerprint(text: string): string {
  const digest = hash('sha256', text, 'hex');
  return `${'abcdef'.charAt(Number.parseInt(digest.slice(-2), 16) % 6)}${digest.slice(0, 15)}`;
}

/** Finds fields that were always present and are absent from every sampled response. */
function goneFields(before: Side, after: Side): Drift[] {
  return Object.entries(before.counts).flatMap(([name, present]): Drift[] => {
    if (!name.startsWith('field ')) return [];
    const at = name.slice('field '.length);
    const place = `object ${at.slice(0, at.lastIndexOf('/'))}`;
    const [all, sampled] = [before.counts[place] ?? 0, after.counts[place] ?? 0];
    if (Math.min(all, sampled) < MIN_SAMPLED || present < ALWAYS * all || (after.counts[name] ?? 0) > 0) return [];
    if (shareBounds(present, all, Z).lower <= shareBounds(0, sampled, Z).upper) return [];
    const message = `${at} was in ${partWords(present, all)} sampled responses of release ${before.label} and is in none of ${sampled} of release ${after.label}`;
    return [{ keyword: 'field-gone', location: 'body', at, message, responses: sampled }];
  });
}

const partWords = (part: number, all: number) => (part === all ? `all ${all}` : `${part} of ${all}`);

/** Finds out whether the median duration of successful responses has multiplied. */
function slowerResponses(before: Side, after: Side): Drift[] {
  const [was, now] = [durationsOf(before.counts), durationsOf(after.counts)];
  if (was.total < MIN_RESPONSES || now.total < MIN_RESPONSES) return [];
  const [slowest, quickest] = [medianBound(was, 1), medianBound(now, -1)];
  if (quickest < FACTOR * slowest || quickest - slowest < MIN_MS_CHANGE) return [];
  const message = `the median time of a response was at most ${msWords(slowest)} in release ${before.label} and is at least ${msWords(quickest)} in release ${after.label}`;
  return [{ keyword: 'slower', location: 'status', at: '', message, responses: now.total }];
}

interface Durations {
  readonly total: number;
  /** The duration classes with their counts, shortest first. */
  readonly classes: readonly (readonly [index: number, count: number])[];
}

function durationsOf(counts: Side['counts']): Durations {
  const classes = Object.entries(counts).flatMap(([name, count]) =>
    name.startsWith('ms ') ? [[Number(name.slice('ms '.length)), count] as const] : [],
  );
  return { total: classes.reduce((sum, [, count]) => sum + count, 0), classes: classes.toSorted(([a], [b]) => a - b) };
}

/**
 * Returns a bound of the median in milliseconds: the longest plausible median if `side` is 1, and the shortest if it is
 * -1. The rank of the median in a sample varies by half the square root of the sample's size.
 */
function medianBound({ total, classes }: Durations, side: 1 | -1): number {
  const rank = total / 2 + (side * Z * Math.sqrt(total)) / 2;
  let seen = 0;
  for (const [index, count] of classes) {
    seen += count;
    if (seen >= rank) return shortestOf(side === 1 ? index + 1 : index);
  }
  return shortestOf((classes.at(-1)?.[0] ?? 0) + 1);
}

const msWords = (ms: number): string =>
  ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.max(1, Math.round(ms))} ms`;

/** Finds errors whose share of the responses has changed. Responses that an outage prevented do not count. */
function shiftedShares(before: Side, after: Side): Drift[] {
  const [allBefore, allAfter] = [responsesOf(before.counts), responsesOf(after.counts)];
  if (allBefore < MIN_RESPONSES || allAfter < MIN_RESPONSES) return [];
  const names = new Set([...Object.keys(before.counts), ...Object.keys(after.counts)].filter(isError));
  return [...names].flatMap((name): Drift[] => {
    const [was, now] = [(before.counts[name] ?? 0) / allBefore, (after.counts[name] ?? 0) / allAfter];
    const bounds = [shareBounds(was * allBefore, allBefore, Z), shareBounds(now * allAfter, allAfter, Z)] as const;
    const differs = bounds[1].lower > bounds[0].upper || bounds[0].lower > bounds[1].upper;
    const isLarge = Math.abs(now - was) >= MIN_SHARE_CHANGE && Math.max(was, now) >= FACTOR * Math.min(was, now);
    if (!differs || !isLarge) return [];
    const message = `${name} was ${shareWords(was)} of ${allBefore} responses of release ${before.label} and is ${shareWords(now)} of ${allAfter} of release ${after.label}`;
    return [{ keyword: 'error-share', location: 'status', at: name, message, responses: allAfter }];
  });
}

const isError = (name: string) => /^status [45]/.test(name) && !OUTAGES.test(name);

/** Returns the number of responses that were not due to an outage. */
function responsesOf(counts: Side['counts']): number {
  return Object.entries(counts).reduce(
    (sum, [name, count]) => (name.startsWith('status ') && !OUTAGES.test(name) ? sum + count : sum),
    0,
  );
}
