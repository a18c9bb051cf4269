/** When a server counts as warm; the same rule for all servers of a run. */
export interface WarmUpRule {
  /** The minimum number of requests. */
  readonly requests: number;
  /** The warm-up ends after this time, warm or not, so that a run ends. */
  readonly maxSeconds: number;
}

/** One window of a warm-up. */
export interface WarmUpWindow {
  readonly requests: number;
  readonly seconds: number;
  /** How many functions V8 optimized meanwhile; undefined for servers that do not run on V8. */
  readonly optimizations: number | undefined;
}

/** What a warm-up took. */
export interface WarmUpResult {
  readonly requests: number;
  readonly seconds: number;
  /** Optimizations per second in the last window; undefined for servers that do not run on V8. */
  readonly optimizationsPerSecond: number | undefined;
  /** False when the time was over before the requests were sent and V8 had finished. */
  readonly complete: boolean;
}

/** At this rate V8 has not finished compiling. */
export const COMPILING_PER_SECOND = 5;

/** The length of one window; at least two windows fit into the maximum time. */
export function windowSeconds({ maxSeconds }: WarmUpRule): number {
  return Math.min(1, maxSeconds / 2);
}

/**
 * Sends requests in windows until there were enough of them and, where V8 runs the server, fewer than five functions
 * were optimized per second in the last window.
 */
export async function warmUp(
  rule: WarmUpRule,
  runWindow: (seconds: number) => Promise<WarmUpWindow>,
): Promise<WarmUpResult> {
  let requests = 0;
  let seconds = 0;
  for (;;) {
    const window = await runWindow(windowSeconds(rule));
    requests += window.requests;
    seconds += window.seconds;
    const rate = window.optimizations === undefined ? undefined : window.optimizations / window.seconds;
    const complete = requests >= rule.requests && (rate === undefined || rate < COMPILING_PER_SECOND);
    if (complete || seconds >= rule.maxSeconds) return { requests, seconds, optimizationsPerSecond: rate, complete };
  }
}
