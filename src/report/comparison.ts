import { VIOLATION_CATEGORIES, type ViolationCategory } from '../model/violation.ts';
import { countWords, shareWords } from './report-words.ts';
import { type Finding, findingsOf, type Report } from './report.ts';

/** One side of a comparison. */
export interface ComparedSide {
  /** A release label, or the name of a file. */
  readonly label: string;
  readonly requests: number;
}

/** How a violation changed from the first side to the second. */
export type Change = 'new' | 'more' | 'less' | 'gone' | 'same';

/** One violation on both sides; one of them may be absent. */
export interface ComparedFinding {
  readonly change: Change;
  readonly before: Finding | undefined;
  readonly after: Finding | undefined;
  /** The one that is there: the later where both are. */
  readonly finding: Finding;
  /** Sides on which its operation had no requests: nothing could be seen there. */
  readonly unasked: readonly ('before' | 'after')[];
}

/** Two reports side by side. */
export interface Comparison {
  /** Epoch milliseconds, of the second side. */
  readonly takenAt: number;
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  /** New first, then what became more frequent, less frequent, is gone or the same. */
  readonly findings: readonly ComparedFinding[];
}

/** From which relative difference of the shares on something counts as changed. */
const NOTICEABLE = 0.1;

const ORDER: readonly Change[] = ['new', 'more', 'less', 'gone', 'same'];

/** Compares two reports by fingerprint, and by the share of the traffic that each violation is. */
export function compareReports(
  [beforeLabel, before]: readonly [string, Report],
  [afterLabel, after]: readonly [string, Report],
): Comparison {
  const earlier = new Map(findingsOf(before).map((finding) => [finding.entry.fingerprint, finding]));
  const later = new Map(findingsOf(after).map((finding) => [finding.entry.fingerprint, finding]));
  const [askedBefore, askedAfter] = [askedOf(before), askedOf(after)];
  const findings = [...new Set([...later.keys(), ...earlier.keys()])].flatMap((fingerprint): ComparedFinding[] => {
    const [was, is] = [earlier.get(fingerprint), later.get(fingerprint)];
    const finding = is ?? was;
    if (finding === undefined) return [];
    const unasked = [
      ...(was === undefined && !askedBefore.has(finding.entry.operation) ? (['before'] as const) : []),
      ...(is === undefined && !askedAfter.has(finding.entry.operation) ? (['after'] as const) : []),
    ];
    return [{ change: changeOf(was, is), before: was, after: is, finding, unasked }];
  });
  return {
    takenAt: after.takenAt,
    before: { label: beforeLabel, requests: before.requests },
    after: { label: afterLabel, requests: after.requests },
    findings: findings.toSorted(
      (a, b) =>
        ORDER.indexOf(a.change) - ORDER.indexOf(b.change) ||
        rank(a.finding.entry.category) - rank(b.finding.entry.category) ||
        frequency(b.finding) - frequency(a.finding),
    ),
  };
}

/** The operations that a side had requests of; undefined stands for everything outside the contract. */
const askedOf = ({ traffic }: Report): ReadonlySet<string | undefined> =>
  new Set(traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));

function changeOf(before: Finding | undefined, after: Finding | undefined): Change {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  // Where the traffic of a side is not known, only the counts can be compared.
  const known = before.share !== undefined && after.share !== undefined;
  const was = known ? frequency(before) : before.entry.count;
  const is = known ? frequency(after) : after.entry.count;
  if (Math.abs(is - was) <= NOTICEABLE * Math.max(was, is)) return 'same';
  return is > was ? 'more' : 'less';
}

/** Occurrences per request; more than one where a request shows it several times. */
const frequency = ({ entry, requests }: Finding): number => (requests === 0 ? 0 : entry.count / requests);

const rank = (category: ViolationCategory): number => VIOLATION_CATEGORIES.indexOf(category);

/** What each change is called. */
export const CHANGE_WORDS: Readonly<Record<Change, string>> = {
  new: 'New',
  more: 'More frequent',
  less: 'Less frequent',
  gone: 'Gone',
  same: 'About as frequent',
};

/** The changes in the order in which they are shown. */
export const CHANGES = Object.keys(CHANGE_WORDS) as readonly Change[];

/** What stands where neither side has a violation. */
export const NO_DIFFERENCE = 'No violations on either side.';

/** The two sides and their traffic, in one line. */
export const comparisonWords = ({ before, after }: Comparison): string =>
  `${before.label} (${countWords(before.requests, 'request')}) → ${after.label} (${countWords(after.requests, 'request')})`;

/** `65 % → 11.8 %`; `–` for a side that does not have it, `not asked` where its operation had no requests. */
export function changedShares({ before, after, unasked }: ComparedFinding): string {
  const words = (side: 'before' | 'after', finding: ComparedFinding['before']): string =>
    finding === undefined ? (unasked.includes(side) ? 'not asked' : '–') : shareWords(finding.share);
  return `${words('before', before)} → ${words('after', after)}`;
}

/** The findings of each change that occurs. */
export const groupedByChange = ({ findings }: Comparison) =>
  CHANGES.map((change) => ({ change, findings: findings.filter((one) => one.change === change) })).filter(
    (group) => group.findings.length > 0,
  );
