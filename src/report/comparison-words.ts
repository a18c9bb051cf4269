import type { Change, ComparedFinding, Comparison } from './comparison.ts';
import { countWords, shareWords } from './report-words.ts';

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
