import { formatNumber } from '../format-number.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';

const SHOWN = new Set([
  'hit',
  'hit-busy',
  'hit-gzip',
  'not-modified',
  'miss-distinct',
  'miss-undocumented',
  'passthrough',
]);
const WIDTH = 900;
const LABELS = 372;
/** The space reserved for the number after a bar. */
const NUMBERS = 64;
const LINE = 22;

/**
 * Returns a bar chart of CPU time per request. Each scenario has its own scale. The chart is readable on light and dark
 * pages.
 */
export function toChart({ scenarios, machine }: Results): string {
  const parts: string[] = [];
  let y = 52;
  for (const { id, title, rows } of scenarios) {
    if (!SHOWN.has(id)) continue;
    parts.push(`<text class="title" x="12" y="${y}">${escaped(title)}</text>`);
    // The medians determine the scale, so that the bars fill the width. An outlier's line ends at the edge.
    const largest = Math.max(...rows.map((row) => row.cpuUs.median)) * 1.1;
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
<text x="12" y="18">CPU time of one request in microseconds, less is better. Bars show medians, lines the range from the best to the worst round. Commit: ${escaped(machine.commit)}</text>
${parts.join('\n')}
</svg>
`;
}

function bar({ peer, label, cpuUs }: ScenarioRow, y: number, largest: number): string[] {
  const room = WIDTH - LABELS - NUMBERS;
  const at = (value: number) => LABELS + Math.min(1, value / largest) * room;
  const kind = peer.startsWith('portico') ? 'own' : 'peer';
  const middle = y + LINE / 2;
  const end = Math.max(at(cpuUs.median), at(cpuUs.max));
  return [
    `<text x="${LABELS - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
    `<rect class="${kind}" x="${LABELS}" y="${y + 3}" width="${(at(cpuUs.median) - LABELS).toFixed(1)}" height="${LINE - 6}" rx="2"/>`,
    `<line class="spread" x1="${at(cpuUs.min).toFixed(1)}" x2="${at(cpuUs.max).toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
    `<text x="${(end + 6).toFixed(1)}" y="${middle + 4}">${formatNumber(cpuUs.median)}</text>`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
