import { KEY_PASSES } from './run-scenario.ts';
import { latencyScenario, OTHER_PARTS } from './scenarios/all.ts';
import type { Effort } from './scenarios/effort.ts';
import type { Entry, Scenario } from './scenarios/scenario.ts';
import { WINDOW_SECONDS } from './measure-warm-up.ts';
import { windowSeconds } from './warm-up.ts';

/** How many seconds the steps outside the rounds take on a slow machine with two cores. */
const USUAL = {
  machine: 2,
  yardstick: 0.5,
  startAndStop: 1.6,
  /** The time needed to start wrk and read the metrics, once per window and once per round. */
  besidesRound: 0.25,
  keysPerSecond: 10_000,
  /** The number of requests per second in the memory run, where every key is new. */
  newKeysPerSecond: 5000,
  /** After this many requests to a server, V8 optimizes few additional functions. */
  requestsUntilCompiled: 75_000,
  settling: 2.5,
} as const;

/** Returns the approximate duration of a run in seconds, on an otherwise idle machine. */
export function estimateSeconds(
  effort: Effort,
  scenarios: readonly Scenario[],
  otherParts: readonly string[] = OTHER_PARTS,
): number {
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  const latency = latencyScenario(effort);
  const { count, seconds } = effort.latency;
  const parts: Readonly<Record<(typeof OTHER_PARTS)[number], number>> = {
    'warm-up': USUAL.startAndStop + (effort.warmUpCurve / 30_000) * (1 + USUAL.besidesRound / WINDOW_SECONDS),
    latency: sum(latency.entries.map((one) => entrySeconds(latency, one, effort) + count * (seconds + 1) + 1)),
    start: effort.starts * (USUAL.startAndStop + USUAL.settling),
    memory: USUAL.startAndStop + 2 * USUAL.settling + effort.memoryKeys / USUAL.newKeysPerSecond,
  };
  return (
    USUAL.machine +
    sum(scenarios.map((one) => scenarioSeconds(one, effort))) +
    sum(OTHER_PARTS.map((part) => (otherParts.includes(part) ? parts[part] : 0)))
  );
}

function scenarioSeconds(scenario: Scenario, effort: Effort): number {
  const { entries, rounds } = scenario;
  const measured = rounds.count * (rounds.seconds + USUAL.besidesRound);
  return entries.reduce((sum, entry) => sum + entrySeconds(scenario, entry, effort) + measured, 0);
}

/** Returns the time needed to start, warm up and stop one server, excluding the rounds. */
function entrySeconds({ usualPerSecond }: Scenario, entry: Entry, { warmUp }: Effort): number {
  // Servers that are installed separately do not run on V8, and a slow server has a shorter warm-up of its own.
  const isCompiled = entry.peer.needs !== undefined || entry.slow !== undefined;
  const requests = isCompiled ? (entry.slow?.requests ?? warmUp.requests) : USUAL.requestsUntilCompiled;
  const window = windowSeconds(warmUp);
  const needed = Math.ceil(requests / (entry.usualPerSecond ?? usualPerSecond) / window) + 1;
  const windows = Math.min(Math.ceil(warmUp.maxSeconds / window), needed) * (window + USUAL.besidesRound);
  const { keys } = entry.request;
  const filling = typeof keys === 'number' ? (keys * KEY_PASSES) / USUAL.keysPerSecond : 0;
  return USUAL.yardstick + USUAL.startAndStop + filling + windows;
}
