import { mapTimes } from '../cpu-time.ts';
import type { Machine } from '../machine.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';
import { spreadOf } from '../spread.ts';

/** Returns a row for a made-up scenario. */
export function row(
  peer: string,
  cpuUs: number,
  requestsPerSecond: number,
  more: Partial<ScenarioRow> = {},
): ScenarioRow {
  const threadsUs = mapTimes((group) => (group === 'main' ? cpuUs : 0));
  return {
    peer,
    label: peer,
    authenticates: true,
    rounds: [{ requests: 1000, cpuUs, requestsPerSecond, threadsUs }],
    stalls: 0,
    cpuUs: spreadOf([cpuUs]),
    requestsPerSecond: spreadOf([requestsPerSecond]),
    threadsUs,
    warmUp: { requests: 60_000, seconds: 4, optimizationsPerSecond: 1, complete: true },
    slow: undefined,
    yardstickMs: 100,
    rssBytes: 1e8,
    responseBytes: 29_000,
    encoding: undefined,
    configuration: '',
    ...more,
  };
}

const MACHINE: Machine = {
  cpu: 'a processor',
  cores: 2,
  memoryBytes: 4e9,
  kernel: '6.1',
  system: 'a system',
  versions: { node: '26.0.0' },
  commit: 'abc1234',
  exactCpuTime: true,
  busyBefore: 0,
  missing: new Map(),
};

/** Returns the results of made-up scenarios. */
export function resultsOf(
  rows: Readonly<Record<string, readonly ScenarioRow[]>>,
  more: Partial<Results> = {},
): Results {
  return {
    startedAt: '2026-01-02T03:04:05.000Z',
    effort: 'full',
    warmUp: { requests: 60_000, maxSeconds: 15 },
    only: [],
    machine: MACHINE,
    seconds: 1000,
    scenarios: Object.entries(rows).map(([id, own]) => ({ id, title: id, rows: own, skipped: [] })),
    failures: [],
    ...more,
  };
}
