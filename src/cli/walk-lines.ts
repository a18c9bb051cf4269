import { countWords } from '../report/report-words.ts';
import type { WalkSummary } from '../walk/walk-summary.ts';

/** What a walk did and what it could not do, as lines for people. */
export function walkLines(summary: WalkSummary): readonly string[] {
  const { requests, walked, notWalked } = summary;
  const operations = walked.length + notWalked.length;
  return [
    `Walked ${walked.length} of ${operations} safe operations with ${countWords(requests, 'request')}${endWords(summary)}.`,
    ...unseenLines(summary),
  ];
}

/** The operations that a walk saw nothing of, and why. */
export function unseenLines({ walked, notWalked }: WalkSummary): readonly string[] {
  return [
    ...notWalked.map(({ operation, missing }) =>
      missing.length === 0
        ? `  not walked: ${operation}, the walk ended before`
        : `  not walked: ${operation}, no id is known; give ${missing.map((name) => `--id ${name}=…`).join(' ')}`,
    ),
    ...walked.flatMap(({ operation, requests: sent, statuses }) => {
      const refused = [...statuses].filter(([status]) => status !== 200);
      // A page beyond the end and the like: only what never answered is worth a line.
      return statuses.has(200) || refused.length === 0
        ? []
        : [
            `  no success: ${operation}, ${countWords(sent, 'request')}, ${refused.map(([status, count]) => statusWords(status, count)).join(', ')}`,
          ];
    }),
  ];
}

/** How often a status was answered, in words: `status 404 ×3`. */
export const statusWords = (status: number, count: number): string =>
  `${status === 0 ? 'no answer' : `status ${status}`} ×${count}`;

function endWords({ ended, left }: WalkSummary): string {
  if (ended === 'max-requests') return `; ${left} more were planned (--max-requests)`;
  if (ended === 'signal') return '; it was ended by a signal';
  if (ended === 'unreachable') return '; the server no longer answered';
  return '';
}
