import type { Case } from './cases.ts';

/** How long a run measures. */
export interface Effort {
  /** A case is visited in at most this many turns. */
  readonly maxTurns: number;
  /** The least number of rounds per case. Every visit has the same share of them, once quiet and once busy. */
  readonly rounds: number;
  readonly roundSeconds: number;
  /** A warm-up ends after so many seconds or requests, whichever comes first. */
  readonly warmUpSeconds: number;
  readonly warmUpRequests: number;
  /** How often the start is measured. */
  readonly starts: number;
  /** The maximum duration of a run of all parts, including the installation. */
  readonly maxMinutes: number;
}

/** The effort for the results that are committed. */
export const FULL: Effort = {
  maxTurns: 5,
  rounds: 6,
  roundSeconds: 0.7,
  warmUpSeconds: 10,
  warmUpRequests: 300_000,
  starts: 5,
  maxMinutes: 12,
};

/** The effort for rough numbers: V8 is still compiling during the rounds. */
export const QUICK: Effort = {
  maxTurns: 1,
  rounds: 5,
  roundSeconds: 0.25,
  warmUpSeconds: 2,
  warmUpRequests: 100_000,
  starts: 3,
  maxMinutes: 4,
};

/** nginx only has to open its files. */
const NATIVE_WARM_UP_SECONDS = 1;

/** Returns the number of turns of a case. */
export function turnsOf({ turns }: Case, { maxTurns }: Effort): number {
  return Math.min(turns, maxTurns);
}

/** Returns the number of quiet rounds in a visit, which is also that of busy rounds. */
export function roundsPerVisit(one: Case, effort: Effort): number {
  return Math.ceil(effort.rounds / turnsOf(one, effort));
}

/** Returns the longest duration of a case's warm-up. */
export function warmUpSeconds({ peer }: Case, effort: Effort): number {
  return peer.needs === undefined ? effort.warmUpSeconds : Math.min(effort.warmUpSeconds, NATIVE_WARM_UP_SECONDS);
}

/** Returns how long the visits take at most on a slow machine, in seconds. */
export function estimateSeconds(cases: readonly Case[], effort: Effort): number {
  const startAndStop = 2;
  const besidesRound = 0.35;
  return cases.reduce((sum, one) => {
    const rounds = 2 * roundsPerVisit(one, effort) * (effort.roundSeconds + besidesRound);
    return sum + turnsOf(one, effort) * (startAndStop + warmUpSeconds(one, effort) + rounds);
  }, 0);
}
