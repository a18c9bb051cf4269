import { DAY_MS } from '../../lib/clock.ts';
import { shareBounds } from '../../lib/share-bounds.ts';
import { type CheckName, REQUEST_CHECKS } from '../../engine/model/checks.ts';
import { ERROR_INSIDE, type Trace } from '../../engine/model/trace.ts';
import type { Evidence } from './level-entry.ts';
import type { DemotionOptions } from './options.ts';

/** Counts each operation's checked responses and reports when too many of them fail. */
interface ResponseWindows {
  /** Adds a response. If too many responses have failed, returns the counts and begins a new window. */
  take(operation: string, response: CheckedResponse, now: number): Evidence | undefined;
}

interface Tally {
  judged: number;
  failed: number;
}

/** One of the last checked responses of an operation. */
interface RecentResponse {
  /** In epoch milliseconds. */
  readonly at: number;
  readonly caller: string;
  readonly failed: boolean;
}

type Bucket = Map<string, Tally>;

const BUCKETS = 12;
/**
 * The number of failures that are enough when there is so little traffic that the window never contains `minAnswers`
 * responses. With fewer, a few damaged records would lower the level.
 */
const FEW_FAILURES = 5;
/** How far back responses to an operation with little traffic are remembered, and how many of them. */
const LONG_WINDOW_MS = DAY_MS;
const MAX_RECENT = 500;
/** The maximum number of distinct callers in one bucket. All additional callers are counted as one. */
const MAX_CALLERS = 64;

/**
 * Creates empty windows for these operations. A single caller cannot cause a check to be lowered for everyone: if the
 * other callers have received enough responses, the limit must be exceeded even without the caller that has the most
 * failures.
 *
 * An operation with little traffic never has `minAnswers` responses in one window. The last `minAnswers` responses of
 * the past day then count instead, and fewer are enough if at least {@link FEW_FAILURES} failed and the share would be
 * exceeded even at the lower bound of its confidence interval.
 */
export function createResponseWindows(options: DemotionOptions, operations: readonly string[]): ResponseWindows {
  const windowMs = options.windowSeconds * 1000;
  const rings = new Map<string, BucketRing<Bucket>>(
    operations.map((operation) => [operation, createBucketRing<Bucket>(windowMs, BUCKETS, () => new Map())]),
  );
  const recent = new Map(operations.map((operation) => [operation, createLatest<RecentResponse>(MAX_RECENT)]));
  const enough = Math.min(FEW_FAILURES, options.minAnswers);
  const evidenceOfFew = (operation: string, now: number): Evidence | undefined => {
    const ofDay = (recent.get(operation)?.inOrder() ?? []).filter(({ at }) => at <= now && now - at < LONG_WINDOW_MS);
    const last = ofDay.slice(-options.minAnswers);
    const age = now - (last[0]?.at ?? now);
    // If all of them are in the window, there may soon be enough responses in it.
    if (age < windowMs) return undefined;
    const all = { judged: last.length, failed: last.filter(({ failed }) => failed).length };
    if (all.failed < enough || shareBounds(all.failed, all.judged).lower <= options.share) return undefined;
    const callers = [...Map.groupBy(ofDay, ({ caller }) => caller).values()].map((responses) => ({
      judged: responses.length,
      failed: responses.filter(({ failed }) => failed).length,
    }));
    const others = withoutWorst(callers);
    if (others.judged >= enough && others.failed <= options.share * others.judged) return undefined;
    return { ...all, windowSeconds: Math.ceil(age / 1000) };
  };
  const exceeds = ({ judged, failed }: Tally) => judged >= options.minAnswers && failed > options.share * judged;
  return {
    take(operation, { caller, failed }, now) {
      const ring = rings.get(operation);
      if (ring === undefined) return undefined;
      const tally = tallyFor(ring.at(now), caller);
      tally.judged += 1;
      const last = recent.get(operation);
      last?.add({ at: now, caller, failed });
      if (!failed) return undefined;
      tally.failed += 1;
      const callers = byCaller(ring.within(now));
      const all = sum([...callers.values()]);
      if (all.judged < options.minAnswers) {
        const evidence = evidenceOfFew(operation, now);
        if (evidence === undefined) return undefined;
        ring.clear();
        last?.clear();
        return evidence;
      }
      if (!exceeds(all)) return undefined;
      const others = withoutWorst([...callers.values()]);
      if (others.judged >= options.minAnswers && !exceeds(others)) return undefined;
      ring.clear();
      last?.clear();
      return { ...all, windowSeconds: options.windowSeconds };
    },
  };
}

/** The latest items, oldest first. */
interface Latest<T> {
  add(item: T): void;
  inOrder(): readonly T[];
  clear(): void;
}

/** Creates an empty list that keeps at most `max` items. */
function createLatest<T>(max: number): Latest<T> {
  let items: T[] = [];
  /** The place of the oldest item, which the next one replaces. Only used once the list is full. */
  let oldest = 0;
  return {
    add(item) {
      if (items.length < max) items.push(item);
      else {
        items[oldest] = item;
        oldest = (oldest + 1) % max;
      }
    },
    inOrder: () => [...items.slice(oldest), ...items.slice(0, oldest)],
    clear() {
      items = [];
      oldest = 0;
    },
  };
}

function tallyFor(bucket: Bucket, caller: string): Tally {
  const name = bucket.has(caller) || bucket.size < MAX_CALLERS ? caller : '';
  const tally = bucket.get(name) ?? { judged: 0, failed: 0 };
  bucket.set(name, tally);
  return tally;
}

function byCaller(buckets: readonly Bucket[]): Bucket {
  const callers: Bucket = new Map();
  for (const bucket of buckets)
    for (const [caller, { judged, failed }] of bucket) {
      const tally = callers.get(caller) ?? { judged: 0, failed: 0 };
      callers.set(caller, { judged: tally.judged + judged, failed: tally.failed + failed });
    }
  return callers;
}

function withoutWorst(tallies: readonly Tally[]): Tally {
  return sum(tallies.toSorted((a, b) => b.failed - a.failed).slice(1));
}

function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((all, { judged, failed }) => ({ judged: all.judged + judged, failed: all.failed + failed }), {
    judged: 0,
    failed: 0,
  });
}

/** A response that was checked at the `enforce` level: its caller and whether it was refused. */
interface CheckedResponse {
  /** The name of a verified caller. Empty for all other callers, because they can invent names. */
  readonly caller: string;
  readonly failed: boolean;
}

// An HTML page or invalid JSON means that the upstream is down, not that the contract is wrong.
const OUTAGES: ReadonlySet<string> = new Set(['html', 'json']);

/**
 * Returns the caller of a finished request, and whether the `responses` check refused the response. Returns undefined
 * if the response was not checked at the `enforce` level, if it is from a second upstream, whose faults must not lower
 * the levels of everybody, or if the upstream failed. The upstream failed if it sent no response, an error status, an
 * HTML page, invalid JSON, or a response with a success status that contains an error.
 */
export function checkedResponse(trace: Trace): CheckedResponse | undefined {
  const { responses, upstream, authentication, side } = trace;
  if (responses?.level !== 'enforce' || responses.outcome === 'skipped' || side?.isSecond === true) return undefined;
  const status = upstream?.status;
  if (status === undefined || status < 200 || status > 299) return undefined;
  const failed = responses.outcome === 'refused';
  if (failed && (responses.reason === ERROR_INSIDE || isOutage(trace))) return undefined;
  const caller = authentication?.principal === 'verified' ? (trace.caller ?? '') : '';
  return { caller, failed };
}

function isOutage({ violations }: Trace): boolean {
  return violations.some(
    ({ check, category, keyword }) => check === 'responses' && category === 'protocol' && OUTAGES.has(keyword),
  );
}

/** A check that refuses too many of an operation's requests. `operation` is undefined for undocumented paths. */
export interface RefusalAlert extends Evidence {
  readonly operation: string | undefined;
  readonly check: CheckName;
}

/** Counts the requests that the checks refuse. Unlike the ladder, it only reports and never changes a level. */
interface RefusalWatch {
  take(trace: Trace, now: number): RefusalAlert | undefined;
}

interface Watched {
  readonly ring: BucketRing<RefusalBucket>;
  readonly reportedAt: Map<CheckName, number>;
}

interface RefusalBucket {
  requests: number;
  readonly refused: Map<CheckName, number>;
}

/** Creates a watch for these operations. It reports the same check of an operation at most once per window. */
export function createRefusalWatch(options: DemotionOptions, operations: readonly string[]): RefusalWatch {
  const windowMs = options.windowSeconds * 1000;
  const watched = new Map<string | undefined, Watched>(
    [undefined, ...operations].map((operation) => {
      const ring = createBucketRing<RefusalBucket>(windowMs, BUCKETS, () => ({ requests: 0, refused: new Map() }));
      return [operation, { ring, reportedAt: new Map() }];
    }),
  );
  return {
    take(trace, now) {
      const { operation, background } = trace;
      const known = background === true ? undefined : watched.get(operation);
      if (known === undefined) return undefined;
      const bucket = known.ring.at(now);
      bucket.requests += 1;
      const check = refusedBy(trace);
      if (check === undefined) return undefined;
      bucket.refused.set(check, (bucket.refused.get(check) ?? 0) + 1);
      const reportedAt = known.reportedAt.get(check);
      if (reportedAt !== undefined && Math.abs(now - reportedAt) < windowMs) return undefined;
      const buckets = known.ring.within(now);
      const judged = buckets.reduce((all, { requests }) => all + requests, 0);
      const failed = buckets.reduce((all, { refused }) => all + (refused.get(check) ?? 0), 0);
      if (judged < options.minAnswers || failed <= options.share * judged) return undefined;
      known.reportedAt.set(check, now);
      return { operation, check, judged, failed, windowSeconds: options.windowSeconds };
    },
  };
}

/** Returns the check that refused the request. There is never more than one. */
function refusedBy(trace: Trace): CheckName | undefined {
  // If there is no error, the request was not refused.
  if (trace.error === undefined) return undefined;
  // The upstream failed before the credential could be verified. Other metrics count such failures.
  if (trace.error === 'verification_unavailable') return undefined;
  return REQUEST_CHECKS.find((check) => trace[check]?.outcome === 'refused');
}

/** A sliding window that consists of buckets. A bucket is dropped once it is no longer in the window. */
interface BucketRing<T> {
  /** Returns the bucket for a time in epoch milliseconds, creating it if necessary. */
  at(now: number): T;
  /** Returns all buckets within the window. */
  within(now: number): readonly T[];
  clear(): void;
}

/**
 * Creates an empty window. `make` creates an empty bucket. The window advances by one bucket at a time, so it always
 * covers at least `count - 1` of its `count` parts.
 */
function createBucketRing<T>(windowMs: number, count: number, make: () => T): BucketRing<T> {
  const width = windowMs / count;
  let buckets: { readonly number: number; readonly value: T }[] = [];
  const numberAt = (now: number) => Math.floor(now / width);
  // If the clock is set back, buckets in the future are ignored.
  const covered = (number: number, last: number) => number > last - count && number <= last;
  return {
    at(now) {
      const number = numberAt(now);
      const known = buckets.at(-1);
      if (known?.number === number) return known.value;
      const value = make();
      buckets = [...buckets.filter((bucket) => covered(bucket.number, number - 1)), { number, value }];
      return value;
    },
    within(now) {
      const last = numberAt(now);
      return buckets.filter((bucket) => covered(bucket.number, last)).map((bucket) => bucket.value);
    },
    clear() {
      buckets = [];
    },
  };
}
