import { type Case, selectCases } from '../cases.ts';
import { combine, type Load, type Results } from '../results.ts';
import type { Spread } from '../spread.ts';
import { formatNumber } from './format-number.ts';

const WIDTH = 900;
const LABELS = 330;
/** The space for the number after a bar. */
const NUMBERS = 64;
const BAR = 10;
const LINE = 32;

/** Returns a bar chart of the CPU time per request of each case. It is readable on light and dark pages. */
export function toChart(results: Results): string {
  const spreadOf = (one: Case, load: Load) => combine(results, load, [one.id], ([round]) => round?.cpuUs ?? 0);
  const parts = selectCases([]).map((one) => ({ one, quiet: spreadOf(one, 'quiet'), busy: spreadOf(one, 'busy') }));
  const shown = parts.filter(({ quiet }) => quiet !== undefined);
  // The scale is that of square roots, because Prism needs fifty times as much as a hit.
  const largest = Math.max(...shown.flatMap(({ quiet, busy }) => [quiet?.max ?? 0, busy?.max ?? 0]));
  const at = (value: number) => LABELS + Math.sqrt(value / largest) * (WIDTH - LABELS - NUMBERS);
  const bar = (spread: Spread | undefined, kind: string, y: number) =>
    spread === undefined
      ? ''
      : `<rect class="${kind}" x="${LABELS}" y="${y}" width="${(at(spread.median) - LABELS).toFixed(1)}" height="${BAR}"/>` +
        `<path d="M${at(spread.min).toFixed(1)} ${y + BAR / 2}H${at(spread.max).toFixed(1)}"/>` +
        `<text x="${(at(spread.max) + 6).toFixed(1)}" y="${y + BAR}">${formatNumber(spread.median)}</text>`;
  const rows = shown.map(({ one, quiet, busy }, index) => {
    const y = 36 + index * LINE;
    const kind = one.peer.label === 'Portico' ? 'own' : 'peer';
    const label = `<text x="${LABELS - 8}" y="${y + BAR + 4}" text-anchor="end">${one.peer.label}: ${one.does}</text>`;
    return [label, bar(quiet, kind, y), bar(busy, `${kind} busy`, y + BAR + 2)].join('\n');
  });
  const height = 44 + shown.length * LINE;
  const title =
    'CPU time of a request in microseconds (square root scale); pale: with a busy neighbor; lines: all rounds';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="CPU time per request">
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
path { stroke: #24292f; }
.peer { fill: #8c959f; }
.own { fill: #1a7f64; }
.busy { opacity: 0.5; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } path { stroke: #e6edf3; } }
</style>
<text x="12" y="18">${title}. Commit: ${results.machine.commit}</text>
${rows.join('\n')}
</svg>
`;
}
