import { type BucketRing, createBucketRing } from '../lib/bucket-ring.ts';
import { ERROR_INSIDE, type Trace } from '../model/trace.ts';
import type { DemotionOptions } from './ladder-options.ts';
import type { LadderEvidence } from './ladder-step.ts';

/** Counts judged answers of each operation and says when too many of them failed. */
export interface AnswerWindows {
  /** The numbers against enforcing, once they are there; the window of the operation starts anew then. */
  take(operation: string, answer: JudgedAnswer, now: number): LadderEvidence | undefined;
}

interface Tally {
  judged: number;
  failed: number;
}

type Bucket = Map<string, Tally>;

const BUCKETS = 12;
/** Callers told apart in one bucket; the others count as one. */
const MAX_CALLERS = 64;

/**
 * Creates empty windows for these operations. One caller alone does not lower a check for the others: where the others
 * have enough answers to be believed, their share must be exceeded too without whoever failed most.
 */
export function createAnswerWindows(options: DemotionOptions, operations: readonly string[]): AnswerWindows {
  const windowMs = options.windowSeconds * 1000;
  const rings = new Map<string, BucketRing<Bucket>>(
    operations.map((operation) => [operation, createBucketRing<Bucket>(windowMs, BUCKETS, () => new Map())]),
  );
  const exceeds = ({ judged, failed }: Tally) => judged >= options.minAnswers && failed > options.share * judged;
  return {
    take(operation, { caller, failed }, now) {
      const ring = rings.get(operation);
      if (ring === undefined) return undefined;
      const tally = tallyOf(ring.at(now), caller);
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

function tallyOf(bucket: Bucket, caller: string): Tally {
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

/** An answer that was judged under enforce: for whom, and whether it was refused. */
export interface JudgedAnswer {
  /** The verified caller's name; empty for everybody else, since other names can be made up. */
  readonly caller: string;
  readonly failed: boolean;
}

// A page or a broken body in place of an answer says that the upstream is down, not that the specification is wrong.
const OUTAGES: ReadonlySet<string> = new Set(['html', 'json']);

/**
 * What a finished request says of enforcing `responses`: undefined where nothing was judged under enforce, and where the
 * upstream failed instead of answering (no answer, an error status, an HTML page, no JSON, an error inside a success).
 */
export function judgedAnswer(trace: Trace): JudgedAnswer | undefined {
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
