import { type BucketRing, createBucketRing } from '../lib/bucket-ring.ts';
import type { CheckName } from '../model/checks.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { DemotionOptions } from './ladder-options.ts';
import type { LadderEvidence } from './ladder-step.ts';

/** A check that refuses an unusual share of an operation's requests. `operation` is undefined for undocumented paths. */
export interface RefusalAlert extends LadderEvidence {
  readonly operation: string | undefined;
  readonly check: CheckName;
}

/** Watches how many requests the checks refuse. It only reports. */
interface RefusalWatch {
  take(trace: Trace, now: number): RefusalAlert | undefined;
}

interface Watched {
  readonly ring: BucketRing<Bucket>;
  readonly reportedAt: Map<CheckName, number>;
}

interface Bucket {
  requests: number;
  readonly refused: Map<CheckName, number>;
}

const BUCKETS = 12;

/** Creates the watch for these operations. It reports each check of an operation at most once per window. */
export function createRefusalWatch(options: DemotionOptions, operations: readonly string[]): RefusalWatch {
  const windowMs = options.windowSeconds * 1000;
  const watched = new Map<string | undefined, Watched>(
    [undefined, ...operations].map((operation) => {
      const ring = createBucketRing<Bucket>(windowMs, BUCKETS, () => ({ requests: 0, refused: new Map() }));
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

const isRefused = (verdict: CheckVerdict | undefined) => verdict?.outcome === 'refused';

/** Returns the check that refused the request; there is at most one. */
function refusedBy(trace: Trace): CheckName | undefined {
  // A refused request always has an error.
  if (trace.error === undefined) return undefined;
  // The credential was not refused: it could not be verified because of the upstream, which other metrics show.
  if (trace.error === 'verification_unavailable') return undefined;
  if (isRefused(trace.authentication)) return 'authentication';
  if (isRefused(trace.undocumented)) return 'undocumented';
  if (isRefused(trace.requests)) return 'requests';
  if (isRefused(trace.permissions)) return 'permissions';
  return isRefused(trace.pageBounds) ? 'pageBounds' : undefined;
}
