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

/** Returns the table of a scenario. Ratios compare the first Portico of the scenario with the server of the row. */
export function scenarioTable({ title, rows, skipped }: ScenarioResult): string {
  const own = rows.find(({ peer }) => peer.startsWith('portico'));
  const left = skipped.map(({ label, reason }) => [label, `not measured: ${reason}`, ...HEAD.slice(2).map(() => '')]);
  const stalled = rows.filter(({ stalls }) => stalls > 0).map(({ label, stalls }) => `${label} (${stalls})`);
  return [
    `### ${title}`,
    '',
    ...[HEAD.map(([name]) => name), HEAD.map(([, line]) => line), ...rows.map((row) => cells(row, own)), ...left].map(
      (line) => `| ${line.join(' | ')} |`,
    ),
    '',
    ...(stalled.length === 0
      ? []
      : [`Rounds that were repeated because no response arrived: ${stalled.join(', ')}.`, '']),
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
