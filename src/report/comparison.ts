import { countWords, shareWords } from './report-words.ts';
import { type Finding, findingsOf, type Report, worstFirst } from './report.ts';

/** One side of a comparison. */
interface ComparedSide {
  /** A release label, or the name of a file. */
  readonly label: string;
  readonly requests: number;
}

/** How a violation changed from the first side to the second. */
export type Change = 'new' | 'more' | 'less' | 'gone' | 'same';

/** A violation that occurs on one side or on both. */
export interface ComparedFinding {
  readonly change: Change;
  readonly before: Finding | undefined;
  readonly after: Finding | undefined;
  /** The finding on the second side if there is one, otherwise on the first. */
  readonly finding: Finding;
  /** The sides on which the operation received no requests, so the violation could not occur. */
  readonly unasked: readonly ('before' | 'after')[];
}

/** The comparison of two reports. */
export interface Comparison {
  /** The time at which the second side was recorded, in epoch milliseconds. */
  readonly takenAt: number;
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  /** New violations first, then more frequent, less frequent, gone and unchanged ones. Each group is worst first. */
  readonly findings: readonly ComparedFinding[];
}

/** Frequencies that differ by up to this share are considered the same. */
const TOLERANCE = 0.1;

const ORDER: readonly Change[] = ['new', 'more', 'less', 'gone', 'same'];

/** Compares two reports by fingerprint and by the frequency of each violation. */
export function compareReports(
  [beforeLabel, before]: readonly [string, Report],
  [afterLabel, after]: readonly [string, Report],
): Comparison {
  const earlier = new Map(findingsOf(before).map((finding) => [finding.entry.fingerprint, finding]));
  const later = new Map(findingsOf(after).map((finding) => [finding.entry.fingerprint, finding]));
  const [requestedBefore, requestedAfter] = [requestedOperations(before), requestedOperations(after)];
  const findings = [...new Set([...later.keys(), ...earlier.keys()])].flatMap((fingerprint): ComparedFinding[] => {
    const [was, now] = [earlier.get(fingerprint), later.get(fingerprint)];
    const finding = now ?? was;
    if (finding === undefined) return [];
    const unasked = [
      ...(was === undefined && !requestedBefore.has(finding.entry.operation) ? (['before'] as const) : []),
      ...(now === undefined && !requestedAfter.has(finding.entry.operation) ? (['after'] as const) : []),
    ];
    return [{ change: changeOf(was, now), before: was, after: now, finding, unasked }];
  });
  return {
    takenAt: after.takenAt,
    before: { label: beforeLabel, requests: before.requests },
    after: { label: afterLabel, requests: after.requests },
    findings: findings.toSorted(
      (a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change) || worstFirst(a.finding, b.finding),
    ),
  };
}

/** Returns the operations with requests; undefined represents undocumented paths. */
const requestedOperations = ({ traffic }: Report): ReadonlySet<string | undefined> =>
  new Set(traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));

function changeOf(before: Finding | undefined, after: Finding | undefined): Change {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  // If the traffic of a side is unknown, only the counts can be compared.
  const known = before.share !== undefined && after.share !== undefined;
  const was = known ? frequency(before) : before.entry.count;
  const now = known ? frequency(after) : after.entry.count;
  if (Math.abs(now - was) <= TOLERANCE * Math.max(was, now)) return 'same';
  return now > was ? 'more' : 'less';
}

/** Returns the number of occurrences per request, which can exceed 1. */
const frequency = ({ entry, requests }: Finding): number => (requests === 0 ? 0 : entry.count / requests);

/** The heading of each change. */
export const CHANGE_WORDS: Readonly<Record<Change, string>> = {
  new: 'New',
  more: 'More frequent',
  less: 'Less frequent',
  gone: 'Gone',
  same: 'About as frequent',
};

/** The changes in the order in which a comparison lists them. */
export const CHANGES = Object.keys(CHANGE_WORDS) as readonly Change[];

/** The message for a comparison without violations. */
export const NO_DIFFERENCE = 'There are no violations on either side.';

/** Describes the two sides and their traffic in one line. */
export const comparisonWords = ({ before, after }: Comparison): string =>
  `${before.label} (${countWords(before.requests, 'request')}) → ${after.label} (${countWords(after.requests, 'request')})`;

/**
 * Formats a change in frequency, such as `65 % → 11.8 %`. `–` stands for a side without the violation, and
 * `not requested` for a side on which the operation received no requests.
 */
export function changedShares({ before, after, unasked }: ComparedFinding): string {
  const words = (side: 'before' | 'after', finding: ComparedFinding['before']): string =>
    finding === undefined ? (unasked.includes(side) ? 'not requested' : '–') : shareWords(finding.share);
  return `${words('before', before)} → ${words('after', after)}`;
}

/** Groups the findings by change, without empty groups. */
export const groupedByChange = ({ findings }: Comparison) =>
  CHANGES.map((change) => ({ change, findings: findings.filter((one) => one.change === change) })).filter(
    (group) => group.findings.length > 0,
  );
