import type { Results } from '../results.ts';
import type { Round } from '../load.ts';
import type { Visit } from '../visit.ts';

/** Returns a round with this CPU time per request. */
export function round(cpuUs: number, bytes = 29_000): Round {
  return { requests: 1000, perSecond: 1000, cpuUs, bytes };
}

/** Returns the visits of a case, one per list of quiet rounds. Busy rounds take twice as long. */
export function visitsOf(id: string, turns: readonly (readonly number[])[], bytes?: number): readonly Visit[] {
  return turns.map((cpuUs, turn) => ({
    id,
    turn,
    warmUp: [{ sent: 300_000, cpuUs: cpuUs[0] ?? 0 }],
    quiet: cpuUs.map((one) => round(one, bytes)),
    busy: cpuUs.map((one) => round(2 * one, bytes)),
    rssBytes: 1e8,
  }));
}

/** Returns the results of made-up visits. */
export function resultsOf(visits: readonly Visit[], more: Partial<Results> = {}): Results {
  return {
    startedAt: '2026-01-02T03:04:05.000Z',
    command: 'npm run bench',
    machine: {
      cpu: 'a processor',
      cores: 2,
      system: 'a system',
      versions: { node: '26.0.0' },
      commit: 'abc1234',
      busyBefore: 0,
      missing: {},
    },
    stolen: 0,
    seconds: 600,
    visits,
    starts: [],
    failures: [],
    ...more,
  };
}
