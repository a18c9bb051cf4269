import { formatNumber } from '../format-number.ts';
import type { Round } from '../run-scenario.ts';
import { spreadOf } from '../spread.ts';

/** One path measured on both sides, round by round. */
export interface Comparison {
  readonly name: string;
  /** What else differs, for example the coding of the answers; empty for nothing. */
  readonly note: string;
  readonly before: readonly Round[];
  readonly after: readonly Round[];
}

/** The table of `--against`: ratios after / before of rounds that were measured side by side, with their spread. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  return [
    '| path | CPU µs before | after | after/before | min–max | req/s before | after | after/before | min–max | |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...comparisons.map(
      ({ name, note, before, after }) =>
        `| ${[
          name,
          ...cells(before, after, (round) => round.cpuUs),
          ...cells(before, after, (round) => round.requestsPerSecond),
          note,
        ].join(' | ')} |`,
    ),
    '',
  ].join('\n');
}

function cells(before: readonly Round[], after: readonly Round[], metric: (round: Round) => number): string[] {
  const ratios = spreadOf(
    before.flatMap((round, at) => {
      const other = after[at];
      return other === undefined ? [] : [metric(other) / metric(round)];
    }),
  );
  return [
    formatNumber(spreadOf(before.map(metric)).median),
    formatNumber(spreadOf(after.map(metric)).median),
    ratios.median.toFixed(3),
    `${ratios.min.toFixed(3)}–${ratios.max.toFixed(3)}`,
  ];
}
