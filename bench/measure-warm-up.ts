import { measureRound, type Round, type RunContext, startEntry } from './run-scenario.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { spreadOf } from './spread.ts';

/** How a fresh process becomes faster. */
export interface WarmUpCurve {
  /** The number of requests that the process had served before it stayed within `WITHIN` of its final CPU time. */
  readonly requestsUntilWarm: number;
  /** The CPU time per request in the last windows, in microseconds. */
  readonly finalCpuUs: number;
  readonly windows: readonly Pick<Round, 'requests' | 'cpuUs'>[];
}

/** A process is warm if a request takes at most this much more CPU time than at the end. */
export const WITHIN = 0.2;
export const WINDOW_SECONDS = 0.25;
/** The number of windows whose median smooths the variations between windows. */
const SMOOTHED = 3;
const FINAL_WINDOWS = 10;

/**
 * Sends requests to a fresh process until it has served this many. Every window is measured separately. The first
 * entry of the scenario is the server.
 */
export async function measureWarmUp(scenario: Scenario, requests: number, context: RunContext): Promise<WarmUpCurve> {
  const [entry] = scenario.entries;
  if (entry === undefined) throw new Error('the scenario has no server');
  const one = await startEntry(scenario, entry, context);
  try {
    const windows: Round[] = [];
    for (let sent = 0; sent < requests || windows.length < 2 * FINAL_WINDOWS;) {
      const window = await measureRound(scenario, one, WINDOW_SECONDS);
      sent += window.requests;
      windows.push(window);
      context.progress.tick(`warm-up: ${sent} requests`);
    }
    return curveOf(windows);
  } finally {
    await one.started.running.stop();
  }
}

/** Finds the point in a series of windows after which the CPU time stays close to that of the last windows. */
export function curveOf(windows: readonly Pick<Round, 'requests' | 'cpuUs'>[]): WarmUpCurve {
  const finalCpuUs = spreadOf(windows.slice(-FINAL_WINDOWS).map(({ cpuUs }) => cpuUs)).median;
  const smooth = windows.map((_, at) => spreadOf(windows.slice(at, at + SMOOTHED).map(({ cpuUs }) => cpuUs)).median);
  // The last windows define what warm is, so their own variations do not count.
  const lastCold = smooth.slice(0, -FINAL_WINDOWS).findLastIndex((cpuUs) => cpuUs > finalCpuUs * (1 + WITHIN));
  const requestsUntilWarm = windows.slice(0, lastCold + 1).reduce((sum, { requests }) => sum + requests, 0);
  return { requestsUntilWarm, finalCpuUs, windows: windows.map(({ requests, cpuUs }) => ({ requests, cpuUs })) };
}
