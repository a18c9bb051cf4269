import { CHECK_NAMES } from '../../model/checks.ts';
import type { OperationTraffic } from '../../model/ledger-snapshot.ts';
import { checksOf } from '../ledger-store.ts';
import { createHourlyCounts, type HourlyCounts } from './hourly-counts.ts';
import type { TrafficDelta } from '../ledger-batch.ts';

/** Traffic counts by operation, release and hour, in memory. */
export interface MemoryTraffic {
  add(release: string, delta: TrafficDelta): void;
  sums(sinceHour: number, release: string | undefined): OperationTraffic[];
  forget(beforeHour: number): void;
}

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/** Creates empty traffic counts: one number per operation, check and outcome. */
export function createMemoryTraffic(): MemoryTraffic {
  const operations = new Map<string | undefined, Map<string, HourlyCounts>>();
  const countsOf = (operation: string | undefined, name: string): HourlyCounts => {
    const named = operations.get(operation) ?? new Map<string, HourlyCounts>();
    operations.set(operation, named);
    const counts = named.get(name) ?? createHourlyCounts();
    named.set(name, counts);
    return counts;
  };
  return {
    add(release, { operation, hour, requests, checks }) {
      countsOf(operation, 'requests').add(release, hour, requests);
      for (const name of CHECK_NAMES)
        for (const outcome of OUTCOMES) {
          const count = checks[name]?.[outcome] ?? 0;
          if (count > 0) countsOf(operation, `${name} ${outcome}`).add(release, hour, count);
        }
    },
    sums(sinceHour, wanted) {
      return [...operations].flatMap(([operation, named]) => {
        const sums = new Map([...named].map(([name, counts]) => [name, counts.sums(sinceHour, wanted)]));
        const releases = new Set([...sums.values()].flatMap((byRelease) => Object.keys(byRelease)));
        const count = (name: string, release: string) => sums.get(name)?.[release] ?? 0;
        return [...releases].map((release) => ({
          operation,
          release,
          requests: count('requests', release),
          checks: checksOf((name, outcome) => count(`${name} ${outcome}`, release)),
        }));
      });
    },
    forget(beforeHour) {
      for (const named of operations.values()) for (const counts of named.values()) counts.forget(beforeHour);
    },
  };
}
