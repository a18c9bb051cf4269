import { type Results, rowOf } from './results.ts';
import type { ScenarioRow } from './run-scenario.ts';

/** A limit, and a function that reads the value from the results. The value is undefined if it was not measured. */
export interface Target {
  readonly path: string;
  readonly what: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number };
  readonly unit: '×' | 'ms' | 'MB' | '%';
  readonly value: (results: Results) => number | undefined;
}

type Metric = (row: ScenarioRow) => number;
const cpu: Metric = (row) => row.cpuUs.median;
const throughput: Metric = (row) => row.requestsPerSecond.median;

function ratio(metric: Metric, scenario: string, own: string, peer: string, peerScenario = scenario) {
  return (results: Results): number | undefined => {
    const above = rowOf(results, scenario, own);
    const below = rowOf(results, peerScenario, peer);
    return above === undefined || below === undefined ? undefined : metric(above) / metric(below);
  };
}

/** Returns the smaller of two values, because both must reach the limit. */
function worse(values: readonly Target['value'][]): Target['value'] {
  return (results) => {
    const known = values.map((value) => value(results));
    return known.some((one) => one === undefined) ? undefined : Math.min(...known.filter((one) => one !== undefined));
  };
}

function distinct(peer: string): Target['value'] {
  return worse(['portico-enforce', 'portico-report'].map((own) => ratio(throughput, 'miss-distinct', own, peer)));
}

/** The memory that a cache budget may use, relative to the budget: memory at rest + 64 MiB × 1.5. */
const MEMORY_FACTOR = 1.5;

/**
 * The growth over the last half that still counts as flat, in percent of the memory at the end. Garbage collections
 * cause variations of this size.
 */
const FLAT = 5;

/** The targets, in the order of the report. */
export const TARGETS: readonly Target[] = [
  {
    path: 'cache hit, identity',
    what: 'CPU per request over nginx proxy_cache + auth_basic + access log',
    limit: { atMost: 1 },
    unit: '×',
    value: ratio(cpu, 'hit', 'portico-hit', 'nginx-cache'),
  },
  {
    path: 'cache hit, identity',
    what: 'CPU per request over bare node:http',
    limit: { atMost: 1.5 },
    unit: '×',
    value: ratio(cpu, 'hit', 'portico-hit', 'node-http'),
  },
  {
    path: 'cache hit, gzip',
    what: 'throughput over nginx with gzip on',
    limit: { atLeast: 3 },
    unit: '×',
    value: (results) =>
      // A response that is not compressed is not comparable.
      rowOf(results, 'hit-gzip', 'portico-hit')?.encoding === 'gzip'
        ? ratio(throughput, 'hit-gzip', 'portico-hit', 'nginx-gzip')(results)
        : undefined,
  },
  {
    path: '304',
    what: 'throughput over Portico’s own identity hit',
    limit: { atLeast: 1.2 },
    unit: '×',
    value: ratio(throughput, 'not-modified', 'portico-304', 'portico-hit'),
  },
  {
    path: 'validated miss, all bodies distinct',
    what: 'throughput over express + http-proxy-middleware; the worse of enforce and report',
    limit: { atLeast: 0.95 },
    unit: '×',
    value: distinct('http-proxy-middleware'),
  },
  {
    path: 'validated miss, all bodies distinct',
    what: 'throughput over express-openapi-validator; the worse of enforce and report',
    limit: { atLeast: 2.5 },
    unit: '×',
    value: distinct('express-openapi-validator'),
  },
  {
    path: 'validated miss, all bodies distinct',
    what: 'throughput over Prism; the worse of enforce and report',
    limit: { atLeast: 10 },
    unit: '×',
    value: distinct('prism'),
  },
  {
    path: 'validated miss, all bodies distinct',
    what: 'throughput of report over responses off, which parses too',
    limit: { atLeast: 0.95 },
    unit: '×',
    value: ratio(throughput, 'miss-distinct', 'portico-report', 'portico-responses-off'),
  },
  {
    path: 'validated miss, identical bodies',
    what: 'throughput over express + http-proxy-middleware; the worse of enforce and report',
    limit: { atLeast: 1.2 },
    unit: '×',
    value: worse(
      ['portico-enforce', 'portico-report'].map((own) => ratio(throughput, 'miss-same', own, 'http-proxy-middleware')),
    ),
  },
  {
    path: 'passthrough',
    what: 'throughput over express + http-proxy-middleware',
    limit: { atLeast: 0.95 },
    unit: '×',
    value: ratio(throughput, 'passthrough', 'portico-passthrough', 'http-proxy-middleware'),
  },
  {
    path: 'latency of a hit at half the peak rate',
    what: 'p99 minus that of bare node:http, because both contain the delays of the load generator',
    limit: { atMost: 1 },
    unit: 'ms',
    value: ({ latency }) => {
      const p99 = (id: string) => latency?.find(({ peer }) => peer === id)?.paced.p99;
      const [own, bare] = [p99('portico-hit'), p99('node-http')];
      return own === undefined || bare === undefined ? undefined : Math.max(0, own - bare);
    },
  },
  {
    path: 'start to ready with a real upstream',
    what: 'median',
    limit: { atMost: 500 },
    unit: 'ms',
    value: ({ start }) => start?.readyMs.median,
  },
  {
    path: 'memory at rest',
    what: 'RSS two seconds after ready',
    limit: { atMost: 120 },
    unit: 'MB',
    value: ({ start }) => (start === undefined ? undefined : start.restBytes.median / 1e6),
  },
  {
    path: 'memory after many distinct keys',
    what: `growth of RSS since rest; the limit is ${MEMORY_FACTOR} × 64 MiB`,
    limit: { atMost: (64 * 1024 * 1024 * MEMORY_FACTOR) / 1e6 },
    unit: 'MB',
    value: ({ memory }) => (memory === undefined ? undefined : (memory.endBytes - memory.restBytes) / 1e6),
  },
  {
    path: 'memory after many distinct keys',
    what: 'growth over the last half of the run, by linear regression, in percent of the memory at the end',
    limit: { atMost: FLAT },
    unit: '%',
    value: lastHalfGrowth,
  },
  {
    path: 'cost as work grows',
    what: 'CPU of a hit with many keys compared with one key: the row with the largest difference',
    limit: { atMost: 10 },
    unit: '%',
    value: (results) => farthestFromFirst(results, 'keys'),
  },
  {
    path: 'cost as work grows',
    what: 'CPU of a hit with 500 operations compared with the operations of the contract',
    limit: { atMost: 10 },
    unit: '%',
    value: (results) => farthestFromFirst(results, 'operations'),
  },
  {
    path: 'cost as work grows',
    what: 'CPU of a miss for 200 kB above the straight line through 2 kB and 29 kB',
    limit: { atMost: 10 },
    unit: '%',
    value: linearExcess,
  },
];

/** Returns the largest difference between Portico's first row and its other rows, up or down, in percent. */
function farthestFromFirst({ scenarios }: Results, scenario: string): number | undefined {
  const rows = scenarios.find(({ id }) => id === scenario)?.rows ?? [];
  const [first, ...others] = rows.filter(({ peer }) => peer.startsWith('portico')).map(cpu);
  if (first === undefined || others.length === 0) return undefined;
  return Math.max(...others.map((other) => Math.abs(other / first - 1))) * 100;
}

function linearExcess(results: Results): number | undefined {
  const small = rowOf(results, 'miss-distinct-2k', 'portico-enforce');
  const middle = rowOf(results, 'miss-distinct', 'portico-enforce');
  const large = rowOf(results, 'miss-distinct-200k', 'portico-enforce');
  if (small === undefined || middle === undefined || large === undefined) return undefined;
  const perByte = (middle.cpuUs.median - small.cpuUs.median) / (middle.answerBytes - small.answerBytes);
  const expected = middle.cpuUs.median + perByte * (large.answerBytes - middle.answerBytes);
  return Math.max(0, (large.cpuUs.median / expected - 1) * 100);
}

/** A shorter run does not show the growth for a million keys. */
const LEAST_KEYS = 500_000;

function lastHalfGrowth({ memory }: Results): number | undefined {
  if (memory === undefined || memory.keys < LEAST_KEYS) return undefined;
  const grown = memory.lastHalfSlope * (memory.keys / 2 / 1e6);
  return Math.max(0, (grown / memory.endBytes) * 100);
}

/** Whether a target was reached, missed or not measured. `gap` is the relative distance from the limit. */
export interface Verdict {
  readonly target: Target;
  readonly value: number | undefined;
  readonly state: 'holds' | 'missed' | 'not measured';
  readonly gap: number;
}

/** Compares the results with all targets. */
export function judgeTargets(results: Results): readonly Verdict[] {
  return TARGETS.map((target) => {
    const value = target.value(results);
    if (value === undefined) return { target, value, state: 'not measured', gap: 0 };
    const { limit } = target;
    const gap = 'atMost' in limit ? value / limit.atMost - 1 : 1 - value / limit.atLeast;
    return { target, value, state: gap <= 0 ? 'holds' : 'missed', gap: Math.max(0, gap) };
  });
}
