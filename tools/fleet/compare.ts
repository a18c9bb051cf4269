import { CONNECTED_BOUND_MS, figuresOf } from './assess.ts';
import { countFills } from './checks.ts';
import { type FleetRun, settleSeconds } from './run-fleet.ts';
import { type SimulationResult, type SimulationSettings, simulateFleet } from './simulate.ts';
import type { Workload } from './workload.ts';

/** The values that the simulation must reproduce. */
export interface PointValues {
  readonly hitRatio: number;
  readonly fillsPerPeriod: number;
  readonly fetchesPerRead: number;
  readonly commandsPerRequest: number;
}

/** One measured fleet and its simulation. */
export interface Point {
  readonly gateways: number;
  readonly requestsPerSecond: number;
  readonly measured: PointValues;
  readonly simulated: PointValues;
}

/** The largest acceptable difference between a measured and a simulated value, as a fraction of the measured value. */
export const TOLERANCE = 0.15;

/** Times that the simulation assumes, in milliseconds. */
const ASSUMED = { redisMs: 0.5, arrivalMs: 2 };

/** Simulates each run and compares the results. */
export async function compareRuns(runs: readonly FleetRun[]): Promise<readonly Point[]> {
  const points: Point[] = [];
  for (const run of runs) {
    const figures = figuresOf(run);
    const result = await simulateFleet(run.workload, settingsFor(run));
    points.push({
      gateways: run.settings.gateways,
      requestsPerSecond: figures.requestsPerSecond,
      measured: {
        hitRatio: figures.hitRatio,
        fillsPerPeriod: figures.fillsPerPeriod,
        fetchesPerRead: figures.fetchesPerRead,
        commandsPerRequest: figures.commandsPerRequest,
      },
      simulated: valuesOf(result, run.workload, run.settings),
    });
  }
  return points;
}

/** Returns the values used to compare a simulated fleet with a measured one. */
export function valuesOf(
  result: SimulationResult,
  workload: Workload,
  { freshSeconds, earlyRefresh, seconds }: Pick<FleetRun['settings'], 'freshSeconds' | 'earlyRefresh' | 'seconds'>,
): PointValues {
  const { fills, writes } = result.events;
  const { periods } = countFills(
    fills,
    writes,
    [{ from: 0, to: seconds * 1000 + 1 }],
    (page) => workload.pages[page]?.tags ?? [],
    { freshMs: freshSeconds * (1 - earlyRefresh) * 1000, purgeSlackMs: CONNECTED_BOUND_MS },
  );
  return {
    hitRatio: result.memoryHits + result.sharedHits,
    fillsPerPeriod: fills.length / Math.max(1, periods),
    fetchesPerRead: result.fetches / Math.max(1, result.reads),
    commandsPerRequest: commandsOf(result) / Math.max(1, result.requests),
  };
}

/** Returns the total number of Redis commands. */
export function commandsOf({ commands }: Pick<SimulationResult, 'commands'>): number {
  return Object.values(commands).reduce((sum, one) => sum + one, 0);
}

/** Returns the differences that are larger than the tolerance, as text. */
export function differencesOf(points: readonly Point[]): readonly string[] {
  return points.flatMap(({ gateways, measured, simulated }) =>
    (Object.keys(measured) as (keyof PointValues)[])
      .filter((name) => Math.abs(simulated[name] - measured[name]) > TOLERANCE * measured[name])
      .map((name) => `${gateways} gateways, ${name}: measured ${measured[name]}, simulated ${simulated[name]}`),
  );
}

function settingsFor({ settings, requests, idleCommandsPerSecond }: FleetRun): SimulationSettings {
  return {
    ...ASSUMED,
    idleCommandsPerSecond,
    gateways: settings.gateways,
    // A busy machine may have sent fewer requests than planned.
    perSecond: requests / settings.seconds,
    writeShare: settings.writeShare,
    seed: settings.seed,
    seconds: settings.seconds,
    warmUpSeconds: settleSeconds(settings.freshSeconds),
    freshMs: settings.freshSeconds * 1000,
    staleMs: settings.staleSeconds * 1000,
    earlyRefresh: settings.earlyRefresh,
    upstreamMs: settings.upstreamMs,
  };
}

/** A fleet too large to measure on this machine. */
export interface LargeFleet {
  readonly gateways: number;
  readonly callers: number;
  readonly requestsPerSecond: number;
  readonly writesPerSecond: number;
  readonly memoryHits: number;
  readonly sharedHits: number;
  readonly fetchesPerSecond: number;
  readonly commandsPerSecond: Readonly<SimulationResult['commands']>;
}

/** The number of callers per gateway in a large fleet, and how often each caller sends a request. */
export const LARGE = { callersPerGateway: 10_000, requestsPerMinute: 1, seconds: 24 };

/** Simulates a fleet with many gateways and callers. The workload and the times are taken from a measured run. */
export async function simulateLarge(run: FleetRun, gateways: number): Promise<LargeFleet> {
  const callers = gateways * LARGE.callersPerGateway;
  const perSecond = (callers * LARGE.requestsPerMinute) / 60;
  const base = settingsFor(run);
  const warmUpSeconds = base.warmUpSeconds;
  const { events: _, ...result } = await simulateFleet(run.workload, {
    ...base,
    gateways,
    perSecond,
    accounts: callers,
    seconds: LARGE.seconds,
  });
  const seconds = LARGE.seconds - warmUpSeconds;
  const { idle, record, page, purge, arrival } = result.commands;
  return {
    gateways,
    callers,
    requestsPerSecond: perSecond,
    writesPerSecond: result.writes / seconds,
    memoryHits: result.memoryHits,
    sharedHits: result.sharedHits,
    fetchesPerSecond: result.fetches / seconds,
    commandsPerSecond: {
      idle: idle / seconds,
      record: record / seconds,
      page: page / seconds,
      purge: purge / seconds,
      arrival: arrival / seconds,
    },
  };
}
