/** The conditions that end a warm-up. They are the same for all servers in a run. */
export interface WarmUpRule {
  /** The minimum number of requests. */
  readonly requests: number;
  /** The maximum duration of the warm-up, so that the run does not take too long. */
  readonly maxSeconds: number;
}

/** A part of a warm-up. */
export interface WarmUpWindow {
  readonly requests: number;
  readonly seconds: number;
  /** The number of functions that V8 optimized. Undefined if the server does not run on V8. */
  readonly optimizations: number | undefined;
}

/** The result of a warm-up. */
export interface WarmUpResult {
  readonly requests: number;
  readonly seconds: number;
  /** The number of functions optimized per second in the last window. Undefined if the server does not run on V8. */
  readonly optimizationsPerSecond: number | undefined;
  /** False if the warm-up ended because it reached its maximum duration. */
  readonly complete: boolean;
}

/** While V8 optimizes at least this many functions per second, it is still compiling the server's code. */
export const COMPILING_PER_SECOND = 5;

/** Returns the duration of a window in seconds. It is short enough for a warm-up to have at least two windows. */
export function windowSeconds({ maxSeconds }: WarmUpRule): number {
  return Math.min(1, maxSeconds / 2);
}

/**
 * Warms up a server, one window at a time, until it has received enough requests. If the server runs on V8, the warm-up
 * also continues until V8 optimizes fewer than five functions per second in a window.
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
