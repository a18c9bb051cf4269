import { THREAD_GROUPS, type ThreadGroup } from '../cpu-time.ts';
import { formatNumber } from '../format-number.ts';
import type { ScenarioResult, ScenarioRow } from '../run-scenario.ts';
import type { Spread } from '../spread.ts';

const HEAD = [
  ['server', '---'],
  ['CPU µs/request', '---:'],
  ['min–max', '---:'],
  ['Portico ÷ this', '---:'],
  ['requests/s', '---:'],
  ['min–max', '---:'],
  ['Portico ÷ this', '---:'],
  ['RSS MB', '---:'],
] as const;

/** The labels that the tables use for the thread groups. */
const GROUPS: Readonly<Record<ThreadGroup, string>> = {
  main: 'main thread',
  v8: 'V8 helpers',
  pool: 'log (libuv pool)',
  worker: 'ledger (worker)',
  other: 'other threads',
};

/**
 * Returns the tables of a scenario: the results, followed by the CPU time by thread and the warm-up. The ratio in each
 * row compares the first Portico server in the scenario with the server in that row.
 */
export function scenarioTable({ title, rows, skipped }: ScenarioResult): string {
  const own = rows.find(({ peer }) => peer.startsWith('portico'));
  const left = skipped.map(({ label, reason }) => [label, `not measured: ${reason}`, ...HEAD.slice(2).map(() => '')]);
  return [
    `### ${title}`,
    '',
    ...[HEAD.map(([name]) => name), HEAD.map(([, line]) => line), ...rows.map((row) => cells(row, own)), ...left].map(
      (line) => `| ${line.join(' | ')} |`,
    ),
    '',
    ...(rows.length === 0 ? [] : detailsTable(rows)),
    ...notes(rows).flatMap((note) => [note, '']),
  ].join('\n');
}

function cells(row: ScenarioRow, own: ScenarioRow | undefined): string[] {
  const label = row.authenticates ? row.label : `${row.label} ¹`;
  const ratio = (metric: (one: ScenarioRow) => Spread) =>
    own === undefined || row === own ? '—' : `${(metric(own).median / metric(row).median).toFixed(2)} ×`;
  return [
    row === own ? `**${label}**` : label,
    ...spreadCells(row.cpuUs),
    ratio(({ cpuUs }) => cpuUs),
    ...spreadCells(row.requestsPerSecond),
    ratio(({ requestsPerSecond }) => requestsPerSecond),
    formatNumber(row.rssBytes / 1e6, 0),
  ];
}

function spreadCells({ median, min, max }: Spread): [string, string] {
  return [formatNumber(median), `${formatNumber(min)}–${formatNumber(max)}`];
}

/** Returns a table that shows the CPU time per request by thread, the warm-up and the yardstick time. */
function detailsTable(rows: readonly ScenarioRow[]): string[] {
  const head = [
    'CPU µs/request by thread',
    ...THREAD_GROUPS.map((group) => GROUPS[group]),
    'warm-up requests',
    's',
    'optimizations/s at its end',
    'yardstick ms',
  ];
  const line = ({ label, threadsUs, warmUp, yardstickMs }: ScenarioRow) => [
    label,
    ...THREAD_GROUPS.map((group) => formatNumber(threadsUs[group])),
    formatNumber(warmUp.requests, 0),
    `${formatNumber(warmUp.seconds)}${warmUp.complete ? '' : ' (not complete)'}`,
    warmUp.optimizationsPerSecond === undefined ? '—' : formatNumber(warmUp.optimizationsPerSecond),
    formatNumber(yardstickMs, 0),
  ];
  return [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows.map(line)]
    .map((row) => `| ${row.join(' | ')} |`)
    .concat('');
}

function notes(rows: readonly ScenarioRow[]): string[] {
  const stalled = rows.filter(({ stalls }) => stalls > 0).map(({ label, stalls }) => `${label} (${stalls})`);
  const slow = rows.flatMap(({ label, slow: rule }) =>
    rule === undefined
      ? []
      : [`${label} has a shorter warm-up of at least ${formatNumber(rule.requests, 0)} requests: ${rule.reason}.`],
  );
  return [
    ...slow,
    ...(stalled.length === 0 ? [] : [`Rounds that were repeated because no response arrived: ${stalled.join(', ')}.`]),
  ];
}
