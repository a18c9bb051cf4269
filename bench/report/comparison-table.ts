import { formatNumber } from '../format-number.ts';
import type { Round } from '../run-scenario.ts';
import { spreadOf } from '../spread.ts';

/** A scenario that was measured on both sides, round by round. */
export interface Comparison {
  readonly name: string;
  /** The content codings of the two sides if they differ; otherwise, an empty string. */
  readonly note: string;
  readonly before: readonly Round[];
  readonly after: readonly Round[];
}

/** Returns the table for `--against`: the after/before ratios of alternating rounds, with their spread. */
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
