import { formatNumber } from '../format-number.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';

const SHOWN = ['hit', 'hit-gzip', 'not-modified', 'miss-distinct', 'miss-same', 'passthrough'];
const WIDTH = 860;
const LABELS = 330;
const LINE = 22;

/** Bars of CPU per request, one group for each scenario with a scale of its own; colours suit light and dark pages. */
export function toChart({ scenarios }: Results): string {
  const parts: string[] = [];
  let y = 30;
  for (const { id, title, rows } of scenarios) {
    if (!SHOWN.includes(id)) continue;
    parts.push(`<text class="title" x="12" y="${y}">${escaped(title)}</text>`);
    const largest = Math.max(...rows.map((row) => row.cpuUs.max));
    y += 10;
    for (const row of rows) {
      parts.push(...bar(row, y, largest));
      y += LINE;
    }
    y += 30;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="CPU per request in microseconds, less is better">
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 13px; }
.peer { fill: #8c959f; }
.own { fill: #1a7f64; }
.spread { stroke: #24292f; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .peer { fill: #6e7681; }
  .own { fill: #3fb68b; }
  .spread { stroke: #e6edf3; }
}
</style>
<text x="${WIDTH - 12}" y="16" text-anchor="end">CPU µs per request, less is better</text>
${parts.join('\n')}
</svg>
`;
}

function bar({ peer, label, cpuUs }: ScenarioRow, y: number, largest: number): string[] {
  const scale = (WIDTH - LABELS - 90) / largest;
  const at = (value: number) => (LABELS + value * scale).toFixed(1);
  const kind = peer.startsWith('portico') ? 'own' : 'peer';
  const middle = y + LINE / 2;
  return [
    `<text x="${LABELS - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
    `<rect class="${kind}" x="${LABELS}" y="${y + 3}" width="${(cpuUs.median * scale).toFixed(1)}" height="${LINE - 6}" rx="2"/>`,
    `<line class="spread" x1="${at(cpuUs.min)}" x2="${at(cpuUs.max)}" y1="${middle}" y2="${middle}"/>`,
    `<text x="${Number(at(cpuUs.max)) + 6}" y="${middle + 4}">${formatNumber(cpuUs.median)}</text>`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
