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

/** What was measured with one gateway and is an input of all simulations. */
export interface Calibration {
  readonly idleCommandsPerSecond: number;
  readonly commandsPerRecord: number;
}

/** The largest difference between a measured and a simulated value, as a share of the measured one. */
export const TOLERANCE = 0.15;

/** Times that the simulation assumes, in milliseconds. */
const ASSUMED = { redisMs: 0.5, arrivalMs: 2 };

/** Simulates each run, and compares the results. The first run, with the fewest gateways, calibrates the others. */
export async function compareRuns(
  runs: readonly FleetRun[],
): Promise<{ readonly points: readonly Point[]; readonly calibration: Calibration }> {
  const [first] = runs;
  if (first === undefined) throw new RangeError('there is no run');
  const calibration = await calibrate(first);
  const points: Point[] = [];
  for (const run of runs) {
    const figures = figuresOf(run);
    const result = await simulateFleet(run.workload, settingsFor(run, calibration));
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
  return { points, calibration };
}

/** Returns the values by which a simulated fleet is compared with a measured one. */
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

/** Returns the number of all Redis commands. */
export function commandsOf({ commands }: Pick<SimulationResult, 'commands'>): number {
  return Object.values(commands).reduce((sum, one) => sum + one, 0);
}

/** Returns the differences that are larger than the tolerance, as texts. */
export function differencesOf(points: readonly Point[]): readonly string[] {
  return points.flatMap(({ gateways, measured, simulated }) =>
    (Object.keys(measured) as (keyof PointValues)[])
      .filter((name) => Math.abs(simulated[name] - measured[name]) > TOLERANCE * measured[name])
      .map((name) => `${gateways} gateways, ${name}: measured ${measured[name]}, simulated ${simulated[name]}`),
  );
}

/**
 * Attributes the commands that are neither idle ones nor part of the exchange of pages and purges to the batches of the
 * ledger, whose number of commands depends on the operations in them.
 */
async function calibrate(run: FleetRun): Promise<Calibration> {
  const { idleCommandsPerSecond } = run;
  const known = await simulateFleet(run.workload, settingsFor(run, { idleCommandsPerSecond, commandsPerRecord: 0 }));
  const measured = figuresOf(run).commandsPerRequest * known.requests;
  return { idleCommandsPerSecond, commandsPerRecord: Math.max(0, measured - commandsOf(known)) / known.records };
}

function settingsFor(run: FleetRun, calibration: Calibration): SimulationSettings {
  const { settings, requests } = run;
  return {
    ...ASSUMED,
    ...calibration,
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

/** A fleet that is larger than this machine. */
export interface LargeFleet {
  readonly gateways: number;
  readonly callers: number;
  readonly requestsPerSecond: number;
  readonly writesPerSecond: number;
  readonly memoryHits: number;
  readonly sharedHits: number;
  readonly fetchesPerSecond: number;
  readonly commandsPerSecond: Readonly<SimulationResult['commands']>;
  readonly pagesPerGateway: number;
  readonly pagesInRedis: number;
}

/** How many callers each gateway of a large fleet serves, and how often each of them sends a request. */
export const LARGE = { callersPerGateway: 10_000, requestsPerMinute: 1, seconds: 24 };

/** Simulates a fleet with many gateways and callers, with the workload and the times of a measured run. */
export async function simulateLarge(run: FleetRun, calibration: Calibration, gateways: number): Promise<LargeFleet> {
  const callers = gateways * LARGE.callersPerGateway;
  const perSecond = (callers * LARGE.requestsPerMinute) / 60;
  const base = settingsFor(run, calibration);
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
    pagesPerGateway: result.pagesInMemory / gateways,
    pagesInRedis: result.pagesInRedis,
  };
}
