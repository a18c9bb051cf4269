import type { Results } from '../results.ts';
import { isMet, type Row, ROWS } from '../rows.ts';
import type { Spread } from '../spread.ts';
import { formatNumber } from './format-number.ts';

const DECIMALS: Readonly<Record<Row['unit'], number>> = { '×': 2, '%': 0, ms: 0, MB: 0, requests: 0 };

/** Returns the table of all measured rows: the value, its spread, the goal, and the value on a busy core. */
export function resultsTable(results: Results): string {
  const lines = ROWS.flatMap((row) => {
    const { what, unit, goal, value, busy } = row;
    const quiet = value(results);
    if (quiet === undefined) return [];
    const format = (one: number) => formatNumber(one, DECIMALS[unit]);
    const limit = 'atMost' in goal ? `≤ ${format(goal.atMost)}` : `≥ ${format(goal.atLeast)}`;
    const range = ({ min, max }: Spread) => `${format(min)} to ${format(max)}`;
    const neighbor = busy?.(results);
    const withNeighbor = neighbor === undefined ? '' : `${format(neighbor.median)} (${range(neighbor)})`;
    const verdict = isMet(row, results) === true ? 'met' : '**missed**';
    return [`| ${[what, `${format(quiet.median)} ${unit}`, range(quiet), limit, verdict, withNeighbor].join(' | ')} |`];
  });
  return [
    '| what | median | spread | goal | | with a busy neighbor |',
    '| --- | ---: | ---: | ---: | --- | ---: |',
    ...lines,
    '',
  ].join('\n');
}
