import { formatNumber } from '../format-number.ts';
import type { Target, Verdict } from '../targets.ts';

/** Returns the table of targets, with the verdict in the first column. */
export function targetsTable(verdicts: readonly Verdict[]): string {
  return [
    '| verdict | case | measured | target | what |',
    '| --- | --- | ---: | ---: | --- |',
    ...verdicts.map((verdict) => `| ${cells(verdict).join(' | ')} |`),
    '',
  ].join('\n');
}

function cells({ target, value, state, gap }: Verdict): string[] {
  const verdict = state === 'missed' ? `**missed by ${(gap * 100).toFixed(0)}%**` : state;
  const measured = value === undefined ? '—' : withUnit(value, target.unit);
  return [verdict, target.path, measured, limitOf(target), target.what];
}

function limitOf({ limit, unit }: Target): string {
  return 'atMost' in limit ? `≤ ${withUnit(limit.atMost, unit)}` : `≥ ${withUnit(limit.atLeast, unit)}`;
}

function withUnit(value: number, unit: Target['unit']): string {
  return `${formatNumber(value, unit === '×' ? 2 : value < 10 ? 2 : 0)}${unit === '%' ? '' : ' '}${unit}`.trimEnd();
}
