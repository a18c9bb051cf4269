import { spreadOf } from './spread.ts';

/** A part of a warm-up: how many requests had been sent at its end, and the CPU time of each. */
export interface Window {
  readonly sent: number;
  readonly cpuUs: number;
}

/** The number of requests in a window. */
export const WINDOW_REQUESTS = 5000;

/** A process is warm if a request takes at most this much more CPU time than after the warm-up. */
const WITHIN = 0.2;

/** The number of windows whose median smooths the variations between them. */
const SMOOTHED = 3;

/** After fewer requests than this, a process may not have been warm. */
const LEAST_REQUESTS = 100_000;

/**
 * Returns how many requests a new process served before it stayed within 20% of the CPU time that it had after the
 * warm-up. Undefined if the warm-up was too short to tell.
 */
export function requestsUntilWarm(windows: readonly Window[], warmCpuUs: number): number | undefined {
  if ((windows.at(-1)?.sent ?? 0) < LEAST_REQUESTS) return undefined;
  const smooth = windows.map((_, at) => spreadOf(windows.slice(at, at + SMOOTHED).map(({ cpuUs }) => cpuUs)).median);
  const lastCold = smooth.findLastIndex((cpuUs) => cpuUs > warmCpuUs * (1 + WITHIN));
  return windows[lastCold]?.sent ?? 0;
}
