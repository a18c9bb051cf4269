import type { Machine } from './machine.ts';
import type { Start } from './measure-start.ts';
import type { Round } from './load.ts';
import { type Spread, spreadOf } from './spread.ts';
import type { Visits } from './visit.ts';

/** Everything that a run measured. */
export interface Results extends Visits {
  readonly startedAt: string;
  readonly command: string;
  readonly machine: Machine;
  /** The share of the machine's time that went to other virtual machines, from 0 to 1. */
  readonly stolen: number;
  /** The duration of the run in seconds, including the installation of packages. */
  readonly seconds: number;
  readonly starts: readonly Start[];
}

/** Quiet rounds, or those while another program kept the core busy. */
export type Load = 'quiet' | 'busy';

/**
 * Combines the rounds of several cases. The middle value is that of their medians; the others are the least and the
 * greatest of rounds with the same number in the same turn. Undefined if a case was not measured.
 */
export function combine(
  { visits }: Pick<Visits, 'visits'>,
  load: Load,
  ids: readonly string[],
  formula: (rounds: readonly Round[]) => number,
): Spread | undefined {
  const visitsOf = (id: string) => visits.filter((visit) => visit.id === id);
  const medians = ids.map((id) => medianRound(visitsOf(id).flatMap((visit) => visit[load])));
  if (medians.some((round) => round === undefined)) return undefined;
  const pairs = visitsOf(ids[0] ?? '').flatMap(({ turn, [load]: rounds }) =>
    rounds.flatMap((_, at) => {
      const pair = ids.map((id) => visitsOf(id).find((visit) => visit.turn === turn)?.[load][at]);
      const complete = pair.filter((round) => round !== undefined);
      return complete.length < ids.length ? [] : [formula(complete)];
    }),
  );
  const median = formula(medians.filter((round) => round !== undefined));
  return { median, min: Math.min(median, ...pairs), max: Math.max(median, ...pairs) };
}

/** Returns a round with the median CPU time. Undefined if there are no rounds. */
function medianRound(rounds: readonly Round[]): Round | undefined {
  const [first] = rounds;
  return first === undefined ? undefined : { ...first, cpuUs: spreadOf(rounds.map(({ cpuUs }) => cpuUs)).median };
}
