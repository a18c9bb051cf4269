import { type BucketRing, createBucketRing } from '../lib/bucket-ring.ts';
import { ERROR_INSIDE, type Trace } from '../model/trace.ts';
import type { DemotionOptions } from './ladder-options.ts';
import type { LadderEvidence } from './ladder-step.ts';

/** Counts the checked responses of each operation and reports when too many of them fail. */
interface ResponseWindows {
  /** Adds a response. Returns the numbers if too many responses have failed; the window then starts again. */
  take(operation: string, response: CheckedResponse, now: number): LadderEvidence | undefined;
}

interface Tally {
  judged: number;
  failed: number;
}

type Bucket = Map<string, Tally>;

const BUCKETS = 12;
/** The maximum number of distinct callers in one bucket; all others count as one. */
const MAX_CALLERS = 64;

/**
 * Creates empty windows for these operations. A single caller cannot lower a check for the others: if the other callers
 * have enough responses, the share must also be exceeded without the caller with the most failures.
 */
export function createResponseWindows(options: DemotionOptions, operations: readonly string[]): ResponseWindows {
  const windowMs = options.windowSeconds * 1000;
  const rings = new Map<string, BucketRing<Bucket>>(
    operations.map((operation) => [operation, createBucketRing<Bucket>(windowMs, BUCKETS, () => new Map())]),
  );
  const exceeds = ({ judged, failed }: Tally) => judged >= options.minAnswers && failed > options.share * judged;
  return {
    take(operation, { caller, failed }, now) {
      const ring = rings.get(operation);
      if (ring === undefined) return undefined;
      const tally = tallyFor(ring.at(now), caller);
      tally.judged += 1;
      if (!failed) return undefined;
      tally.failed += 1;
      const callers = byCaller(ring.within(now));
      const all = sum([...callers.values()]);
      if (!exceeds(all)) return undefined;
      const others = withoutWorst([...callers.values()]);
      if (others.judged >= options.minAnswers && !exceeds(others)) return undefined;
      ring.clear();
      return { ...all, windowSeconds: options.windowSeconds };
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

/** A response that was checked under `enforce`: its caller and whether it was refused. */
interface CheckedResponse {
  /** The name of a verified caller; empty for all others, whose names may be made up. */
  readonly caller: string;
  readonly failed: boolean;
}

// An HTML page or a broken body means that the upstream is down, not that the contract is wrong.
const OUTAGES: ReadonlySet<string> = new Set(['html', 'json']);

/**
 * Returns the result of enforcing `responses` for a finished request. Returns undefined if no response was checked under
 * `enforce`, and if the upstream failed: no response, an error status, an HTML page, invalid JSON or an error in a
 * successful response.
 */
export function checkedResponse(trace: Trace): CheckedResponse | undefined {
  const { responses, upstream, authentication } = trace;
  if (responses?.level !== 'enforce' || responses.outcome === 'skipped') return undefined;
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
