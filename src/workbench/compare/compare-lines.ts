import { countWords } from '../report/report-words.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { Comparator } from '../../comparison/comparator.ts';
import type { Noise } from '../../comparison/noise.ts';
import type { ComparisonRun } from './run-comparison.ts';
import type { CompareCounts, FoundDifference } from './tally.ts';

/** What a comparison of two servers has found, apart from the report of its differences. */
export interface CompareSummary {
  readonly old: string;
  readonly new: string;
  readonly run: ComparisonRun;
  readonly counts: CompareCounts;
  readonly differences: readonly FoundDifference[];
  /** How many items and totals could not be judged. */
  readonly undecided: number;
  readonly callers: readonly string[];
  readonly noise: Pick<Noise, 'expired'> & { readonly unused: ReturnType<Noise['unused']> };
  /** The number of id pairs that are known. Undefined if the ids are the same on both servers. */
  readonly idPairs: number | undefined;
  readonly coverage: readonly CoverageRow[];
}

/** How many pairs of values were compared in one operation, for one caller and status. */
export interface CoverageRow {
  readonly operation: string;
  readonly role: string;
  readonly status: number;
  readonly fields: number;
  readonly compared: number;
  readonly different: number;
  readonly muted: number;
}

/** Sums up what was compared. */
export function coverageOf(comparator: Pick<Comparator, 'places'>): readonly CoverageRow[] {
  const rows = new Map<string, { -readonly [Key in keyof CoverageRow]: CoverageRow[Key] }>();
  for (const { scope, compared, different, muted } of comparator.places()) {
    const { operation = '(undocumented)', role, status } = scope;
    const key = `${operation} ${role} ${status}`;
    const row = rows.get(key) ?? { operation, role, status, fields: 0, compared: 0, different: 0, muted: 0 };
    row.fields += 1;
    row.compared += compared;
    row.different += different;
    row.muted += muted;
    rows.set(key, row);
  }
  return [...rows.values()].toSorted((a, b) => (`${a.operation} ${a.role}` < `${b.operation} ${b.role}` ? -1 : 1));
}

/** Returns the lines that sum up a comparison. What was not compared is never left out. */
export function compareLines(summary: CompareSummary): readonly string[] {
  const { counts, run, differences, undecided, noise, callers, idPairs } = summary;
  const { exchanges, equal, different, muted, notComparable, notMade, races } = counts;
  const leaks = differences.filter(({ isLeak }) => isLeak);
  const repairs = differences.filter(({ isRepair }) => isRepair);
  const row = (name: string, count: number, why: Readonly<Record<string, number>> = {}) =>
    `  ${name.padEnd(15)} ${String(count).padStart(9)}${listed(why) === '' ? '' : `   ${listed(why)}`}`;
  return [
    `Compared ${summary.new} with ${summary.old}: ${countWords(exchanges, 'exchange')}${endWords(run)}.`,
    row('equal', equal),
    row('different', different),
    row('muted', muted),
    row('not comparable', notComparable, counts.notComparableBecause),
    row('not made', notMade, counts.notMadeBecause),
    ...(races === 0 ? [] : [`  In ${races} of them, a difference vanished when both servers were asked again.`]),
    ...(undecided === 0
      ? []
      : [`  ${countWords(undecided, 'item')} at the ends of pages cannot be judged: add --all-pages.`]),
    '',
    `Contract (old → new): ${listed(counts.verdicts) || 'nothing was checked'}.`,
    ...(listed(counts.equivalences) === '' ? [] : [`The same in another form: ${listed(counts.equivalences)}.`]),
    ...(idPairs === undefined ? [] : [`${countWords(idPairs, 'pair')} of ids.`]),
    `Callers: ${callers.join(', ')}. ${leaks.length === 0 ? 'No leak was found.' : `${countWords(leaks.length, 'LEAK')}: ${leaks.map(({ entry }) => entry.fingerprint).join(', ')}.`}`,
    ...(repairs.length === 0
      ? []
      : [
          `Repairs, which the contract demands: ${countWords(repairs.length, 'difference')}; --accept-repairs accepts them.`,
        ]),
    ...noise.unused.map(({ operation, at }) => `Unused noise rule: ${operation} ${at}.`),
    ...noise.expired.map(
      ({ operation, at, until, owner }) => `Expired noise rule: ${operation} ${at} (${owner}, ${until}).`,
    ),
    '',
    ...coverageLines(summary.coverage),
    ...pairLines(differences),
  ].map(plainText);
}

function coverageLines(rows: readonly CoverageRow[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(9, ...rows.map(({ operation }) => operation.length));
  const roles = Math.max(6, ...rows.map(({ role }) => role.length));
  const line = (cells: readonly string[]) => {
    const [operation = '', role = '', ...numbers] = cells;
    return `  ${operation.padEnd(width)}  ${role.padEnd(roles)}${numbers.map((cell) => cell.padStart(11)).join('')}`;
  };
  return [
    'Pairs of values:',
    line(['operation', 'caller', 'status', 'fields', 'compared', 'different', 'muted']),
    ...rows.map(({ operation, role, status, fields, compared, different, muted }) =>
      line([operation, role, ...[status, fields, compared, different, muted].map(String)]),
    ),
    '',
  ];
}

const MAX_PAIRS = 50;

function pairLines(differences: readonly FoundDifference[]): string[] {
  if (differences.length === 0) return [];
  return [
    'First pair of each difference:',
    ...differences
      .slice(0, MAX_PAIRS)
      .map(
        ({ entry, target, pair, roles }) =>
          `  ${entry.fingerprint}  ${entry.keyword.replace('compare-', '')} ${entry.at === '' ? entry.location : entry.at}, GET ${target} as ${roles.join(', ')}: ${pair}`,
      ),
    ...(differences.length > MAX_PAIRS
      ? [`  and ${differences.length - MAX_PAIRS} more; --format json lists all`]
      : []),
    '',
  ];
}

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ×${count}`)
    .join(', ');

function endWords({ ended, left }: ComparisonRun): string {
  const more = left === undefined || left === 0 ? '' : `; ${left} more requests were planned`;
  if (ended !== 'complete') return `; ended: ${endReason(ended)}${more}`;
  return more === '' ? '' : `${more} (--max-requests)`;
}

/** Says why a comparison ended before its source did. */
export const endReason = (ended: ComparisonRun['ended']): string =>
  ended === 'signal'
    ? 'interrupted by a signal'
    : `the ${ended.replace(' fails', ' stopped responding').replace(' asks to wait', ' asks to wait (429 or 503): continue later, with --resume')}`;
