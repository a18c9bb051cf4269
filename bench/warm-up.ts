/** The conditions for the end of a warm-up, which are the same for all servers of a run. */
export interface WarmUpRule {
  /** The minimum number of requests. */
  readonly requests: number;
  /** The maximum duration. It limits the duration of a run. */
  readonly maxSeconds: number;
}

/** A part of a warm-up. */
export interface WarmUpWindow {
  readonly requests: number;
  readonly seconds: number;
  /** The number of functions that V8 optimized, or undefined if the server does not run on V8. */
  readonly optimizations: number | undefined;
}

/** The result of a warm-up. */
export interface WarmUpResult {
  readonly requests: number;
  readonly seconds: number;
  /** Optimized functions per second in the last window, or undefined if the server does not run on V8. */
  readonly optimizationsPerSecond: number | undefined;
  /** False if the maximum duration ended the warm-up. */
  readonly complete: boolean;
}

/** From this rate of optimized functions per second on, V8 is still compiling the server. */
export const COMPILING_PER_SECOND = 5;

/** Returns the duration of a window in seconds. At least two windows fit into a warm-up. */
export function windowSeconds({ maxSeconds }: WarmUpRule): number {
  return Math.min(1, maxSeconds / 2);
}

/**
 * Warms a server up in windows, until enough requests were sent and, if the server runs on V8, fewer than five functions
 * per second were optimized in the last window.
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
