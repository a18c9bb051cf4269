import { formatNumber } from '../format-number.ts';
import type { ScenarioResult, ScenarioRow } from '../run-scenario.ts';
import type { Spread } from '../spread.ts';

/** The table of one scenario; ratios are Portico over the peer in that row, for the first Portico of the scenario. */
export function scenarioTable({ title, rows, skipped }: ScenarioResult): string {
  const own = rows.find(({ peer }) => peer.startsWith('portico'));
  const lines = rows.map((row) => `| ${cells(row, own).join(' | ')} |`);
  const left = skipped.map(({ label, reason }) => `| ${label} | not measured: ${reason} | | | | | |`);
  return [
    `### ${title}`,
    '',
    '| server | CPU µs/request | min–max | req/s | min–max | Portico/this: CPU · req/s | RSS MB |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    ...left,
    '',
  ].join('\n');
}

function cells(row: ScenarioRow, own: ScenarioRow | undefined): string[] {
  const label = row.authenticates ? row.label : `${row.label} (asks nobody who they are)`;
  const isReference = own === undefined || row === own;
  const ratio = isReference
    ? '—'
    : `${(own.cpuUs.median / row.cpuUs.median).toFixed(2)} · ${(own.requestsPerSecond.median / row.requestsPerSecond.median).toFixed(2)}`;
  const rss = formatNumber(row.rssBytes / 1e6, 0);
  return [label, ...spreadCells(row.cpuUs), ...spreadCells(row.requestsPerSecond), ratio, rss];
}

function spreadCells({ median, min, max }: Spread): [string, string] {
  return [formatNumber(median), `${formatNumber(min)}–${formatNumber(max)}`];
}
