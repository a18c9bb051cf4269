import { type BucketRing, createBucketRing } from '../lib/bucket-ring.ts';
import type { CheckName } from '../model/checks.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { DemotionOptions } from './ladder-options.ts';
import type { LadderEvidence } from './ladder-step.ts';

/** A check of an operation (undefined: of what is no operation) that refuses an unusual share of requests. */
export interface RefusalAlert extends LadderEvidence {
  readonly operation: string | undefined;
  readonly check: CheckName;
}

/** Watches what the checks of requests refuse; it tells and changes nothing. */
export interface RefusalWatch {
  take(trace: Trace, now: number): RefusalAlert | undefined;
}

interface Watched {
  readonly ring: BucketRing<Bucket>;
  readonly toldAt: Map<CheckName, number>;
}

interface Bucket {
  requests: number;
  readonly refused: Map<CheckName, number>;
}

const BUCKETS = 12;

/** Creates a watch over these operations; each check of each is told at most once in a window. */
export function createRefusalWatch(options: DemotionOptions, operations: readonly string[]): RefusalWatch {
  const windowMs = options.windowSeconds * 1000;
  const watched = new Map<string | undefined, Watched>(
    [undefined, ...operations].map((operation) => {
      const ring = createBucketRing<Bucket>(windowMs, BUCKETS, () => ({ requests: 0, refused: new Map() }));
      return [operation, { ring, toldAt: new Map() }];
    }),
  );
  return {
    take(trace, now) {
      const { operation, background } = trace;
      const found = background === true ? undefined : watched.get(operation);
      if (found === undefined) return undefined;
      const bucket = found.ring.at(now);
      bucket.requests += 1;
      const check = refusedBy(trace);
      if (check === undefined) return undefined;
      bucket.refused.set(check, (bucket.refused.get(check) ?? 0) + 1);
      const toldAt = found.toldAt.get(check);
      if (toldAt !== undefined && Math.abs(now - toldAt) < windowMs) return undefined;
      const buckets = found.ring.within(now);
      const judged = buckets.reduce((all, { requests }) => all + requests, 0);
      const failed = buckets.reduce((all, { refused }) => all + (refused.get(check) ?? 0), 0);
      if (judged < options.minAnswers || failed <= options.share * judged) return undefined;
      found.toldAt.set(check, now);
      return { operation, check, judged, failed, windowSeconds: options.windowSeconds };
    },
  };
}

const isRefused = (verdict: CheckVerdict | undefined) => verdict?.outcome === 'refused';

/** The check that ended the request; only one can. */
function refusedBy(trace: Trace): CheckName | undefined {
  // What is refused is answered with an error, so that an answer without one is not looked at closely.
  if (trace.error === undefined) return undefined;
  // Nobody was refused for who they are: the upstream could not be asked, which other metrics tell.
  if (trace.error === 'verification_unavailable') return undefined;
  if (isRefused(trace.authentication)) return 'authentication';
  if (isRefused(trace.undocumented)) return 'undocumented';
  if (isRefused(trace.requests)) return 'requests';
  if (isRefused(trace.permissions)) return 'permissions';
  return isRefused(trace.pageBounds) ? 'pageBounds' : undefined;
}
