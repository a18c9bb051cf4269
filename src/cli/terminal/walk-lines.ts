import { countWords } from '../../report/report-words.ts';
import type { WalkSummary } from '../../walk/walk.ts';

/** Formats the summary of a walk. */
export function walkLines(summary: WalkSummary): readonly string[] {
  const { requests, walked, notWalked } = summary;
  const operations = walked.length + notWalked.length;
  return [
    `Walked ${walked.length} of ${operations} safe operations with ${countWords(requests, 'request')}${endWords(summary)}.`,
    ...unseenLines(summary),
  ];
}

/** Lists the operations without a successful response and the reasons for each. */
export function unseenLines({ walked, notWalked }: WalkSummary): readonly string[] {
  return [
    ...notWalked.map(({ operation, missing }) =>
      missing.length === 0
        ? `  not walked: ${operation}; the walk ended earlier`
        : `  not walked: ${operation}; no id is known: add ${missing.map((name) => `--id ${name}=…`).join(' ')}`,
    ),
    ...walked.flatMap(({ operation, requests: sent, statuses }) => {
      const refused = [...statuses].filter(([status]) => status !== 200);
      // Some requests are expected to fail, such as those for pages past the end, so an operation is listed only if
      // none of its requests succeeded.
      return statuses.has(200) || refused.length === 0
        ? []
        : [`  no success: ${operation}; ${countWords(sent, 'request')}, ${statusWords(refused)}`];
    }),
  ];
}

/** Lists statuses and how often each of them occurred, for example `status 404 ×3, no response ×1`. */
export function statusWords(counts: Iterable<readonly [status: number, count: number]>): string {
  return Array.from(counts, ([status, count]) => `${status === 0 ? 'no response' : `status ${status}`} ×${count}`).join(
    ', ',
  );
}

function endWords({ ended, left }: WalkSummary): string {
  if (ended === 'max-requests') return `; ${left} more were planned (--max-requests)`;
  if (ended === 'signal') return '; interrupted by a signal';
  if (ended === 'unreachable') return '; the server stopped responding';
  return '';
}
