import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { ViolationCategory } from '../model/violation.ts';
import type { Finding, Report } from './report.ts';

/** What each category means, in the words of a heading. */
export const CATEGORY_WORDS: Readonly<Record<ViolationCategory, string>> = {
  undocumented: 'Not in the contract',
  missing: 'Missing',
  type: 'Wrong type',
  format: 'Wrong form',
  enum: 'Unknown value',
  bounds: 'Out of bounds',
  semantic: 'Broken rule',
  protocol: 'Broken protocol',
  'permission-mismatch': 'Permissions differ',
};

/** The name of an operation, or what stands for everything outside the contract. */
export const operationName = (operation: string | undefined): string => operation ?? '(undocumented)';

/** Where in the message it is: `answer 200, body /name`; of a denial, what the caller would have needed. */
export function placeWords({ direction, status, location, at, keyword }: LedgerEntry): string {
  if (keyword === 'permission-denied') return at === '' ? 'request' : `request, needs ${at}`;
  const message = direction === 'request' ? 'request' : `answer${status === undefined ? '' : ` ${status}`}`;
  return `${message}, ${location}${at === '' ? '' : ` ${at}`}`;
}

/** `12.5 %`, `100 %`, `< 0.1 %`; `?` where the traffic is not known. */
export function shareWords(share: number | undefined): string {
  if (share === undefined) return '?';
  if (share > 0 && share < 0.001) return '< 0.1 %';
  const percent = share * 100;
  return `${percent >= 99.95 ? (share === 1 ? '100' : '> 99.9') : percent.toFixed(1).replace(/\.0$/, '')} %`;
}

/** `2026-05-04 10:30`, in UTC. */
export function timeWords(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

/** `1 request`, `3 requests`. */
export const countWords = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** What is in a report, in one line; tells plainly when there was nothing to report on. */
export function summaryWords(report: Report): string {
  const findings = report.groups.flatMap((group) => group.findings);
  const standing = (wanted: Finding['standing']) => findings.filter((finding) => finding.standing === wanted).length;
  const requests = countWords(report.requests, 'request');
  if (report.requests === 0 && findings.length === 0)
    return `No traffic was seen${scopeWords(report)}: there is nothing to report on.`;
  if (findings.length === 0) return `No violations in ${requests}${scopeWords(report)}.`;
  const parts = [
    `${standing('new')} new`,
    ...(standing('expired') > 0 ? [`${standing('expired')} with an expired acceptance`] : []),
    ...(standing('accepted') > 0 ? [`${standing('accepted')} accepted`] : []),
  ];
  return `${countWords(findings.length, 'distinct violation')} in ${requests}${scopeWords(report)}: ${parts.join(', ')}.`;
}

/** What a report was limited to, as the end of a sentence; empty for everything. */
function scopeWords({ scope }: Pick<Report, 'scope'>): string {
  return [
    ...(scope.since === undefined ? [] : [` since ${timeWords(scope.since)} UTC`]),
    ...(scope.operation === undefined ? [] : [` of ${scope.operation}`]),
    ...(scope.release === undefined ? [] : [` under the release ${scope.release}`]),
  ].join('');
}
