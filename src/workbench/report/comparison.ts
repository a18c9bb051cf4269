import type { LedgerEntry } from '../../engine/model/ledger-entry.ts';
import { countWords } from '../../lib/count-words.ts';
import { shareWords } from '../../lib/share-words.ts';
import { type Finding, findingsOf, type RenderOptions, type Report, worstFirst } from './report.ts';

interface ComparedSide {
  /** The name of one side of a comparison: a release label or a file name. */
  readonly label: string;
  readonly requests: number;
}

/** How a violation changed from the first side of a comparison to the second. */
export type Change = 'new' | 'more' | 'less' | 'gone' | 'unchecked' | 'same';

/** A violation that occurs on one side of a comparison or on both sides. */
export interface ComparedFinding {
  readonly change: Change;
  readonly before: Finding | undefined;
  readonly after: Finding | undefined;
  /** The finding on the second side or, if there is none, on the first side. */
  readonly finding: Finding;
  /** The sides where the violation could not occur, because the operation received no requests. */
  readonly unasked: readonly ('before' | 'after')[];
  /** Why the second side could not report the violation. Undefined unless the change is `unchecked`. */
  readonly reason?: string;
}

/** The result of comparing two reports. */
export interface Comparison {
  /** When the second side was recorded, in epoch milliseconds. */
  readonly takenAt: number;
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  /**
   * The violations, grouped in this order: new, more frequent, less frequent, gone, no longer checked and unchanged. Within each group,
   * the worst comes first.
   */
  readonly findings: readonly ComparedFinding[];
}

/** Renders a comparison in one output format. */
export type RenderComparison = (comparison: Comparison, options: RenderOptions) => string;

/** Two frequencies are considered equal if they differ by no more than this fraction. */
const TOLERANCE = 0.1;

/**
 * Compares two reports. Violations are matched by fingerprint, and their frequencies are compared. A violation is gone
 * only if the second side could have reported it. `whyUnreported` states why the configuration no longer reports a
 * violation, or returns undefined.
 */
export function compareReports(
  [beforeLabel, before]: readonly [string, Report],
  [afterLabel, after]: readonly [string, Report],
  whyUnreported: (entry: LedgerEntry) => string | undefined = () => undefined,
): Comparison {
  const whyUnchecked = ({ entry }: Finding): string | undefined => {
    if (!requestedAfter.has(entry.operation)) return 'not requested';
    const isUnchecked = judgedBy(before, entry) > 0 && judgedBy(after, entry) === 0;
    return whyUnreported(entry) ?? (isUnchecked ? `${entry.check} did not run` : undefined);
  };
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
    const reason = now === undefined ? whyUnchecked(finding) : undefined;
    const change = reason === undefined ? changeOf(was, now) : 'unchecked';
    return [{ change, before: was, after: now, finding, unasked, ...(reason !== undefined && { reason }) }];
  });
  return {
    takenAt: after.takenAt,
    before: { label: beforeLabel, requests: before.requests },
    after: { label: afterLabel, requests: after.requests },
    findings: findings.toSorted(
      (a, b) => CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change) || worstFirst(a.finding, b.finding),
    ),
  };
}

/** Returns the operations that received requests. Undefined represents undocumented paths. */
const requestedOperations = ({ traffic }: Report): ReadonlySet<string | undefined> =>
  new Set(traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));

/** Returns how many messages the check of an entry has judged in a report. */
function judgedBy({ traffic }: Report, { operation, check }: LedgerEntry): number {
  if (check === 'upstream' || check === 'errors') return 0;
  return traffic.reduce((sum, one) => {
    const { passed = 0, reported = 0, refused = 0 } = (one.operation === operation && one.checks[check]) || {};
    return sum + passed + reported + refused;
  }, 0);
}

function changeOf(before: Finding | undefined, after: Finding | undefined): Change {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  // If the traffic is unknown on one side, only the counts can be compared.
  const known = before.share !== undefined && after.share !== undefined;
  const was = known ? frequency(before) : before.entry.count;
  const now = known ? frequency(after) : after.entry.count;
  if (Math.abs(now - was) <= TOLERANCE * Math.max(was, now)) return 'same';
  return now > was ? 'more' : 'less';
}

/** Returns the number of occurrences per request. The result can be greater than 1. */
const frequency = ({ entry, requests }: Finding): number => (requests === 0 ? 0 : entry.count / requests);

/** The heading for each kind of change. */
export const CHANGE_WORDS: Readonly<Record<Change, string>> = {
  new: 'New',
  more: 'More frequent',
  less: 'Less frequent',
  gone: 'Gone',
  unchecked: 'No longer checked',
  same: 'About as frequent',
};

/** The kinds of change, in the order in which a comparison lists them. */
export const CHANGES = Object.keys(CHANGE_WORDS) as readonly Change[];

/** The message for a comparison without violations. */
export const NO_DIFFERENCE = 'There are no violations on either side.';

/** Describes the two sides of a comparison and their traffic in one line. */
export const comparisonWords = ({ before, after }: Comparison): string =>
  `${before.label} (${countWords(before.requests, 'request')}) → ${after.label} (${countWords(after.requests, 'request')})`;

/**
 * Formats a change in frequency, such as `65% → 11.8%`. `–` represents a side without the violation, and `not
 * requested` a side without requests to the operation. If the second side could not report the violation, the reason
 * is given instead.
 */
export function changedShares({ before, after, unasked, reason }: ComparedFinding): string {
  const words = (side: 'before' | 'after', finding: ComparedFinding['before']): string =>
    finding === undefined
      ? unasked.includes(side)
        ? 'not requested'
        : ((side === 'after' ? reason : undefined) ?? '–')
      : shareWords(finding.share);
  return `${words('before', before)} → ${words('after', after)}`;
}

/** Groups the findings by kind of change, omitting empty groups. */
export const groupedByChange = ({ findings }: Comparison) =>
  CHANGES.map((change) => ({ change, findings: findings.filter((one) => one.change === change) })).filter(
    (group) => group.findings.length > 0,
  );
