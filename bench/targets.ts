import { type Results, rowOf } from './results.ts';

/**
 * A limit, and a function that reads the value from the results. The function returns undefined if the value was not
 * measured.
 */
export interface Target {
  readonly path: string;
  readonly what: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number };
  readonly unit: '×' | 'ms' | 'MB' | '%' | '';
  readonly value: (results: Results) => number | undefined;
}

type Value = Target['value'];

/** Returns the ratio of one row's CPU time per request to that of another row. A row is a scenario and a server. */
function ratioOf(above: readonly [string, string], below: readonly [string, string]): Value {
  return (results) => {
    const [one, other] = [rowOf(results, ...above), rowOf(results, ...below)];
    return one === undefined || other === undefined ? undefined : one.cpuUs.median / other.cpuUs.median;
  };
}

/** Returns the ratio of two rows in the same scenario. */
const cpuRatio = (scenario: string, above: string, below: string): Value =>
  ratioOf([scenario, above], [scenario, below]);

/** Returns two targets for Portico: one with the `responses` check at `enforce`, and one with it at `report`. */
function bothLevels(target: (own: string, level: string) => Target): readonly Target[] {
  return ['enforce', 'report'].map((level) => target(`portico-${level}`, level));
}

/** The limit on RSS growth with the default cache budget: 1.5 × 64 MiB. */
const MEMORY_LIMIT_MB = (64 * 1024 * 1024 * 1.5) / 1e6;

/**
 * The largest growth in the second half of a run that still counts as flat, as a percentage of the memory at the end.
 * Garbage collection causes variations of this size.
 */
const FLAT = 5;

const PROXY = 'express + http-proxy-middleware';

/** The targets, in the order in which they are reported. */
export const TARGETS: readonly Target[] = [
  {
    path: 'cache hit, identity',
    what: 'CPU per request of Portico ÷ tuned nginx with cache, auth_basic and buffered log',
    limit: { atMost: 1.5 },
    unit: '×',
    value: cpuRatio('hit', 'portico-hit', 'nginx-cache-tuned'),
  },
  {
    path: 'cache hit, identity',
    what: 'CPU per request of Portico ÷ bare node:http with as many headers',
    limit: { atMost: 1.5 },
    unit: '×',
    value: cpuRatio('hit', 'portico-hit', 'node-http'),
  },
  {
    path: 'cache hit, the core is busy',
    what: 'CPU per request of Portico ÷ bare node:http with as many headers',
    limit: { atMost: 2 },
    unit: '×',
    value: cpuRatio('hit-busy', 'portico-hit', 'node-http'),
  },
  {
    path: 'cache hit, gzip',
    what: 'CPU per request of tuned nginx with gzip on ÷ Portico',
    limit: { atLeast: 3 },
    unit: '×',
    value: (results) =>
      // nginx and Portico can be compared only if Portico's responses are compressed.
      rowOf(results, 'hit-gzip', 'portico-hit')?.encoding === 'gzip'
        ? cpuRatio('hit-gzip', 'nginx-gzip-tuned', 'portico-hit')(results)
        : undefined,
  },
  {
    path: '304',
    what: 'CPU per request of Portico’s 304 ÷ its own hit',
    limit: { atMost: 0.85 },
    unit: '×',
    value: cpuRatio('not-modified', 'portico-304', 'portico-hit'),
  },
  ...bothLevels((own, level) => ({
    path: 'validated miss, all bodies distinct',
    what: `CPU per request of ${PROXY} ÷ Portico in \`${level}\``,
    limit: { atLeast: 1.25 },
    unit: '×',
    value: cpuRatio('miss-distinct', 'http-proxy-middleware', own),
  })),
  ...bothLevels((own, level) => ({
    path: 'validated miss, two undocumented fields',
    what: `CPU per request of ${PROXY} ÷ Portico in \`${level}\``,
    limit: { atLeast: 1.05 },
    unit: '×',
    value: cpuRatio('miss-undocumented', 'http-proxy-middleware', own),
  })),
  {
    path: 'validated miss, all bodies distinct',
    what: 'CPU per request of express-openapi-validator ÷ Portico in `enforce`',
    limit: { atLeast: 3.3 },
    unit: '×',
    value: cpuRatio('miss-distinct', 'express-openapi-validator', 'portico-enforce'),
  },
  {
    path: 'validated miss, all bodies distinct',
    what: 'CPU per request of Prism ÷ Portico in `enforce`',
    limit: { atLeast: 12 },
    unit: '×',
    value: cpuRatio('miss-distinct', 'prism', 'portico-enforce'),
  },
  ...bothLevels((own, level) => ({
    path: 'validated miss, two undocumented fields',
    what: `CPU per request ÷ that of a miss with only documented fields, both in \`${level}\``,
    limit: { atMost: 1.08 },
    unit: '×',
    value: ratioOf(['miss-undocumented', own], ['miss-distinct', own]),
  })),
  {
    path: 'passthrough',
    what: `CPU per request of ${PROXY} ÷ Portico`,
    limit: { atLeast: 1.6 },
    unit: '×',
    value: cpuRatio('passthrough', 'http-proxy-middleware', 'portico-passthrough'),
  },
  {
    path: 'miss, every target new, 2 kB',
    what: 'CPU per request of a page that is fetched, validated and stored ÷ that of a miss of a known target',
    limit: { atMost: 1.35 },
    unit: '×',
    value: ratioOf(['miss-stored', 'portico-stored'], ['miss-distinct-2k', 'portico-enforce']),
  },
  {
    path: 'latency of a hit at half the peak rate',
    what: 'p99 minus that of bare node:http, because both contain the delays of the load generator; medians',
    limit: { atMost: 0.5 },
    unit: 'ms',
    value: ({ latency }) => {
      const p99 = (id: string) => latency?.find(({ peer }) => peer === id)?.median.p99;
      const [own, bare] = [p99('portico-hit'), p99('node-http')];
      return own === undefined || bare === undefined ? undefined : Math.max(0, own - bare);
    },
  },
  {
    path: 'latency of a hit at half the peak rate',
    what: 'the longest latency of a round, including the load generator’s delays; median',
    limit: { atMost: 10 },
    unit: 'ms',
    value: ({ latency }) => latency?.find(({ peer }) => peer === 'portico-hit')?.median.max,
  },
  {
    path: 'memory after 300,000 distinct keys',
    what: 'growth of RSS beyond warm idle memory; the limit is 1.5 × 64 MiB',
    limit: { atMost: MEMORY_LIMIT_MB },
    unit: 'MB',
    value: (results) => {
      const memory = longMemoryRun(results);
      return memory === undefined ? undefined : (memory.endBytes - memory.warmRestBytes) / 1e6;
    },
  },
  {
    path: 'memory after 300,000 distinct keys',
    what: 'growth in the last half of the run, by linear regression, in percent of the memory at the end',
    limit: { atMost: FLAT },
    unit: '%',
    value: (results) => {
      const memory = longMemoryRun(results);
      if (memory === undefined) return undefined;
      const grown = (memory.lastHalfSlope * memory.keys) / 2 / 1e6;
      return Math.max(0, (grown / memory.endBytes) * 100);
    },
  },
  {
    path: 'hit, from 1 to 100,000 distinct keys',
    what: 'growth of CPU per request minus nginx’s own growth, in percentage points',
    limit: { atMost: 10 },
    unit: '%',
    value: (results) => {
      const [own, nginx] = [growthOverKeys(results, 'portico'), growthOverKeys(results, 'nginx')];
      return own === undefined || nginx === undefined ? undefined : Math.max(0, own - nginx);
    },
  },
  {
    path: 'start',
    what: 'from the start of the process to ready with a real upstream, median',
    limit: { atMost: 500 },
    unit: 'ms',
    value: ({ start }) => start?.readyMs.median,
  },
  {
    path: 'idle memory',
    what: 'RSS two seconds after ready, median',
    limit: { atMost: 105 },
    unit: 'MB',
    value: ({ start }) => (start === undefined ? undefined : start.restBytes.median / 1e6),
  },
  {
    path: 'memory after hits on one page',
    what: 'RSS after the rounds of the cache hit',
    limit: { atMost: 140 },
    unit: 'MB',
    value: (results) => {
      const row = rowOf(results, 'hit', 'portico-hit');
      return row === undefined ? undefined : row.rssBytes / 1e6;
    },
  },
  {
    path: 'warm-up',
    what: 'requests until a hit in a fresh process stays within 20% of its final CPU time',
    limit: { atMost: 60_000 },
    unit: '',
    value: ({ warmUpCurve }) => warmUpCurve?.requestsUntilWarm,
  },
  {
    path: 'hit, by the number of operations',
    what: 'growth of CPU per request from the operations of the contract to 500',
    limit: { atMost: 10 },
    unit: '%',
    value: growthOverOperations,
  },
  {
    path: 'miss, by the size of the page',
    what: 'CPU per request for 200 kB above the straight line through 2 kB and 29 kB',
    limit: { atMost: 15 },
    unit: '%',
    value: linearExcess,
  },
];

/**
 * Returns the percentage by which CPU time per request grows from one key to 100,000 keys, or undefined for a run with
 * fewer keys.
 */
function growthOverKeys({ scenarios }: Results, server: string): number | undefined {
  const rows = scenarios.find(({ id }) => id === 'keys')?.rows.filter(({ peer }) => peer.startsWith(server)) ?? [];
  const one = rows.find(({ peer }) => peer.endsWith('-1-key'));
  const many = rows.find(({ peer }) => peer.endsWith('-100-000-keys'));
  return one === undefined || many === undefined ? undefined : (many.cpuUs.median / one.cpuUs.median - 1) * 100;
}

/** Returns the percentage by which CPU time per request grows with many operations, or 0 if it decreases. */
function growthOverOperations({ scenarios }: Results): number | undefined {
  const [few, many] = scenarios.find(({ id }) => id === 'operations')?.rows ?? [];
  if (few === undefined || many === undefined) return undefined;
  return Math.max(0, (many.cpuUs.median / few.cpuUs.median - 1) * 100);
}

function linearExcess(results: Results): number | undefined {
  const small = rowOf(results, 'miss-distinct-2k', 'portico-enforce');
  const middle = rowOf(results, 'miss-distinct', 'portico-enforce');
  const large = rowOf(results, 'miss-distinct-200k', 'portico-enforce');
  if (small === undefined || middle === undefined || large === undefined) return undefined;
  const perByte = (middle.cpuUs.median - small.cpuUs.median) / (middle.responseBytes - small.responseBytes);
  const expected = middle.cpuUs.median + perByte * (large.responseBytes - middle.responseBytes);
  return Math.max(0, (large.cpuUs.median / expected - 1) * 100);
}

/** With fewer keys, the cache is not full for most of the run. */
const LEAST_KEYS = 300_000;

function longMemoryRun({ memory }: Results): Results['memory'] {
  return memory === undefined || memory.keys < LEAST_KEYS ? undefined : memory;
}

/** A target's verdict: met, missed or not measured. `gap` is the distance from the limit, relative to the limit. */
export interface Verdict {
  readonly target: Target;
  readonly value: number | undefined;
  readonly state: 'met' | 'missed' | 'not measured';
  readonly gap: number;
}

/** Compares the results with all targets. */
export function judgeTargets(results: Results): readonly Verdict[] {
  return TARGETS.map((target) => {
    const value = target.value(results);
    if (value === undefined) return { target, value, state: 'not measured', gap: 0 };
    const { limit } = target;
    const gap = 'atMost' in limit ? value / limit.atMost - 1 : 1 - value / limit.atLeast;
    return { target, value, state: gap <= 0 ? 'met' : 'missed', gap: Math.max(0, gap) };
  });
}
