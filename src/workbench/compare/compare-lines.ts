import { countWords } from '../../lib/count-words.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { Comparator } from '../../comparison/comparator.ts';
import type { Noise } from '../../comparison/noise.ts';
import type { ComparisonRun } from './run-comparison.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { ReportSection } from '../../engine/model/report-section.ts';
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
  readonly gaps: Gaps;
}

/** What is not known of operations, although nothing differs. */
export interface Gaps {
  /** The operations for which the old server sent no caller a 2xx, so that only refusals were compared. */
  readonly onlyRefusals: readonly string[];
  /** The operations of the contract that were not compared at all, with the ids that the walk did not know. */
  readonly neverCompared: readonly { readonly operation: string; readonly missing: readonly string[] }[];
  /** The callers whose account the old server has never accepted. */
  readonly unknownCallers: readonly string[];
}

/**
 * Returns what a comparison does not show. `notWalked` are the operations for which the walk knew no ids. `callers` have
 * an account on the old server.
 */
export function gapsOf(
  coverage: readonly CoverageRow[],
  operations: readonly Pick<Operation, 'id' | 'method'>[],
  notWalked: Gaps['neverCompared'],
  callers: readonly string[],
): Gaps {
  const seen = Map.groupBy(coverage, ({ operation }) => operation);
  const seenAs = Map.groupBy(coverage, ({ role }) => role);
  return {
    onlyRefusals: [...seen].flatMap(([operation, rows]) =>
      rows.some(({ status }) => status >= 200 && status <= 299) ? [] : [operation],
    ),
    neverCompared: operations.flatMap(({ id, method }) =>
      method !== 'GET' || seen.has(id)
        ? []
        : [notWalked.find(({ operation }) => operation === id) ?? { operation: id, missing: [] }],
    ),
    unknownCallers: callers.filter((name) => seenAs.get(name)?.every(({ status }) => status === 401) === true),
  };
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
  return [...countLines(summary), '', ...coverageLines(summary.coverage), ...pairLines(summary.differences)].map(
    plainText,
  );
}

/** Returns the same as a section of a report. The pairs are in the report itself. */
export function compareSection(summary: CompareSummary): ReportSection {
  return {
    id: 'comparison',
    title: 'Comparison',
    text: countLines(summary).flatMap((line) =>
      line === '' ? [] : [plainText(line.trim().replaceAll(/ {2,}/g, ' '))],
    ),
    tables: [
      {
        title: 'Pairs of values',
        columns: COVERAGE_COLUMNS.map((title, at) => (at < 2 ? { title } : { title, isNumber: true })),
        rows: summary.coverage.map(coverageCells),
        empty: 'Nothing was compared.',
      },
    ],
    data: null,
  };
}

function countLines(summary: CompareSummary): readonly string[] {
  const { counts, run, differences, undecided, noise, callers, idPairs, gaps } = summary;
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
      : [
          `  ${countWords(undecided, 'item')} at the ends of pages cannot be judged, because not all pages were compared; the walk with --all-pages compares them.`,
        ]),
    '',
    `Contract (old → new): ${listed(counts.verdicts) || 'nothing was checked'}.`,
    ...(listed(counts.equivalences) === '' ? [] : [`The same in another form: ${listed(counts.equivalences)}.`]),
    ...(idPairs === undefined ? [] : [`${countWords(idPairs, 'pair')} of ids.`]),
    ...(listed(counts.newViolations) === ''
      ? []
      : [
          `Only the new server violates the contract: ${listed(counts.newViolations)}; portico check --against ${summary.new} says where.`,
        ]),
    ...(gaps.onlyRefusals.length === 0
      ? []
      : [`Only refusals were compared, because no caller got a 2xx: ${gaps.onlyRefusals.join(', ')}.`]),
    ...(gaps.neverCompared.length === 0 ? [] : [`Never compared: ${gaps.neverCompared.map(neverWords).join(', ')}.`]),
    ...(gaps.unknownCallers.length === 0
      ? []
      : [
          `The old server refused all requests of ${gaps.unknownCallers.join(', ')} with 401: check the names and passwords under old.`,
        ]),
    ...(idPairs === undefined && differences.some(({ entry }) => OTHER_IDS.has(entry.keyword))
      ? ['Ids differ. If things have other ids on the new server, add --ids learn.']
      : []),
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
  ];
}

/** How differences look if ids are not the same on both servers. */
const OTHER_IDS: ReadonlySet<string> = new Set(['compare-identity', 'compare-other-item']);

const neverWords = ({ operation, missing }: Gaps['neverCompared'][number]) =>
  missing.length === 0 ? operation : `${operation} (add ${missing.map((name) => `--id ${name}=…`).join(' ')})`;

const COVERAGE_COLUMNS = ['operation', 'caller', 'status', 'fields', 'compared', 'different', 'muted'];

const coverageCells = ({ operation, role, ...row }: CoverageRow): readonly string[] => [
  operation,
  role,
  ...[row.status, row.fields, row.compared, row.different, row.muted].map(String),
];

function coverageLines(rows: readonly CoverageRow[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(9, ...rows.map(({ operation }) => operation.length));
  const roles = Math.max(6, ...rows.map(({ role }) => role.length));
  const line = (cells: readonly string[]) => {
    const [operation = '', role = '', ...numbers] = cells;
    return `  ${operation.padEnd(width)}  ${role.padEnd(roles)}${numbers.map((cell) => cell.padStart(11)).join('')}`;
  };
  return ['Pairs of values:', line(COVERAGE_COLUMNS), ...rows.map((row) => line(coverageCells(row))), ''];
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
