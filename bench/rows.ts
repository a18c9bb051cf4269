import { combine, type Results } from './results.ts';
import type { Round } from './load.ts';
import { type Spread, spreadOf } from './spread.ts';
import { requestsUntilWarm } from './warm-up.ts';

/** A goal, and how it is computed. The functions return undefined if a case was not measured. */
export interface Row {
  readonly what: string;
  readonly goal: { readonly atMost: number } | { readonly atLeast: number };
  readonly unit: '×' | '%' | 'ms' | 'MB' | 'requests';
  readonly value: (results: Results) => Spread | undefined;
  /** The same while another program keeps the core busy, which has no goal. */
  readonly busy?: (results: Results) => Spread | undefined;
}

type Formula = (rounds: readonly Round[]) => number;

const quotient: Formula = ([above, below]) => (above?.cpuUs ?? 0) / (below?.cpuUs ?? 0);

/** A row about the CPU time per request of several cases: by default, that of the first divided by the second's. */
function cpuRow(
  what: string,
  goal: Row['goal'],
  ids: readonly string[],
  formula = quotient,
  unit: Row['unit'] = '×',
): Row {
  return {
    what,
    goal,
    unit,
    value: (results) => combine(results, 'quiet', ids, formula),
    busy: (results) => combine(results, 'busy', ids, formula),
  };
}

/** Returns by how many percent the third case is above the straight line through the first two, by bytes. */
const aboveLine: Formula = ([small, middle, large]) => {
  if (small === undefined || middle === undefined || large === undefined) return 0;
  const perByte = (middle.cpuUs - small.cpuUs) / (middle.bytes - small.bytes);
  return (large.cpuUs / (middle.cpuUs + perByte * (large.bytes - middle.bytes)) - 1) * 100;
};

/** Summarizes one value for each of several processes, except for those that have none. */
function spreadOver<T>(processes: readonly T[], value: (process: T) => number | undefined): Spread | undefined {
  const values = processes.map(value).filter((one) => one !== undefined);
  return values.length === 0 ? undefined : spreadOf(values);
}

const hits = ({ visits }: Results) => visits.filter(({ id }) => id === 'hit');

/** The rows of the table, in their order. */
export const ROWS: readonly Row[] = [
  cpuRow('hit ÷ bare `node:http` with the same headers', { atMost: 1.5 }, ['hit', 'bare']),
  {
    what: 'the same, while another program keeps the core busy',
    goal: { atMost: 2 },
    unit: '×',
    value: (results) => combine(results, 'busy', ['hit', 'bare'], quotient),
  },
  cpuRow('hit ÷ tuned nginx', { atMost: 1.5 }, ['hit', 'nginx']),
  cpuRow('express + http-proxy-middleware ÷ miss', { atLeast: 1.25 }, ['proxy', 'miss']),
  cpuRow('the same ÷ miss with two undocumented fields', { atLeast: 1.05 }, ['proxy-undocumented', 'undocumented']),
  cpuRow('miss with two undocumented fields ÷ miss', { atMost: 1.08 }, ['undocumented', 'miss']),
  cpuRow('express + http-proxy-middleware ÷ passthrough', { atLeast: 1.6 }, ['proxy-passthrough', 'passthrough']),
  cpuRow('express-openapi-validator ÷ miss', { atLeast: 3.3 }, ['validator', 'miss']),
  cpuRow('Prism ÷ miss', { atLeast: 12 }, ['prism', 'miss']),
  cpuRow('miss of a new target ÷ of a known one, 2 kB', { atMost: 1.35 }, ['new-target', 'miss-2k']),
  cpuRow(
    'miss of 200 kB above the straight line through 2 and 29 kB',
    { atMost: 15 },
    ['miss-2k', 'miss', 'miss-200k'],
    aboveLine,
    '%',
  ),
  {
    what: 'start, from the execution to ready',
    goal: { atMost: 500 },
    unit: 'ms',
    value: ({ starts }) => spreadOver(starts, ({ readyMs }) => readyMs),
  },
  {
    what: 'memory (RSS) when idle, two seconds after ready',
    goal: { atMost: 105 },
    unit: 'MB',
    value: ({ starts }) => spreadOver(starts, ({ idleBytes }) => idleBytes / 1e6),
  },
  {
    what: 'memory (RSS) after hits on one page',
    goal: { atMost: 140 },
    unit: 'MB',
    value: (results) => spreadOver(hits(results), ({ rssBytes }) => rssBytes / 1e6),
  },
  {
    what: 'hits until a new process is within 20% of warm',
    goal: { atMost: 60_000 },
    unit: 'requests',
    value: (results) =>
      spreadOver(hits(results), ({ warmUp, quiet }) =>
        requestsUntilWarm(warmUp, spreadOf(quiet.map(({ cpuUs }) => cpuUs)).median),
      ),
  },
];

/** Returns whether a row's goal is met. Undefined if it was not measured. */
export function isMet({ goal, value }: Row, results: Results): boolean | undefined {
  const median = value(results)?.median;
  if (median === undefined) return undefined;
  return 'atMost' in goal ? median <= goal.atMost : median >= goal.atLeast;
}
