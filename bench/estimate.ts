import { KEY_PASSES } from './run-scenario.ts';
import { latencyScenario, OTHER_PARTS } from './scenarios/all.ts';
import type { Effort } from './scenarios/effort.ts';
import type { Scenario } from './scenarios/scenario.ts';

/** The time that a run takes in addition to the rounds, in seconds, for a machine with two cores. */
const USUAL = {
  machine: 2,
  startOfServer: 0.8,
  beyondRound: 0.2,
  keysPerSecond: 12_000,
  settling: 2.5,
} as const;

/** Returns the approximate duration of a run in seconds, on an otherwise idle machine. */
export function estimateSeconds(
  effort: Effort,
  scenarios: readonly Scenario[],
  otherParts: readonly string[] = OTHER_PARTS,
): number {
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  const parts: Readonly<Record<string, number>> = {
    latency:
      latencyScenario(effort).entries.length *
      (USUAL.startOfServer + effort.warmSeconds + Math.min(2, effort.latencySeconds) + effort.latencySeconds + 1),
    start: effort.starts * (USUAL.startOfServer + USUAL.settling),
    memory: USUAL.startOfServer + 2 * USUAL.settling + effort.memoryKeys / USUAL.keysPerSecond,
  };
  return (
    USUAL.machine +
    sum(scenarios.map((one) => scenarioSeconds(one, effort))) +
    sum(otherParts.map((part) => parts[part] ?? 0))
  );
}

function scenarioSeconds({ entries, rounds }: Scenario, { warmSeconds }: Effort): number {
  const measured = warmSeconds + USUAL.beyondRound + rounds.count * (rounds.seconds + USUAL.beyondRound);
  const keys = entries.reduce((all, { request }) => all + (request.keys ?? 0), 0);
  return entries.length * (USUAL.startOfServer + measured) + (keys * KEY_PASSES) / USUAL.keysPerSecond;
}
