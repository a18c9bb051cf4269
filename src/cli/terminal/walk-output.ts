import { countWords } from '../../lib/count-words.ts';
import type { Profile } from '../../engine/contract/api-profile.ts';
import { statusHint } from '../../engine/model/failure-hints.ts';
import type { WalkSummary } from '../../workbench/walk/walk.ts';
import type { CommandIo, CommandLine } from '../../lib/command.ts';

interface WalkStep {
  readonly sent: number;
  /** The number of requests still planned. Undefined if unknown. */
  readonly left?: number | undefined;
  readonly operation: string;
}

interface WalkProgress {
  readonly step: (progress: WalkStep) => void;
  readonly end: () => void;
}

/** The number of requests between progress lines if the output is not a terminal. */
const REQUESTS_PER_LINE = 50;
const BAR_WIDTH = 24;

/**
 * Shows a walk's progress. On a terminal, a single line is updated continuously. Otherwise, a new line is written after
 * every {@link REQUESTS_PER_LINE} requests. The total is an upper limit, because the number of planned requests changes
 * with each response.
 */
export function createWalkProgress({ live, err }: Pick<CommandIo, 'live' | 'err'>, maxRequests: number): WalkProgress {
  return {
    step: ({ sent, left, operation }) => {
      // After the walk, `portico learn` sends more requests. There is no upper limit on their number.
      const count = left === undefined ? `${sent} requests` : `${sent} of at most ${maxRequests} requests`;
      if (live !== undefined) live(`${left === undefined ? '' : `${bar(sent / maxRequests)} `}${count}  ${operation}`);
      else if (sent % REQUESTS_PER_LINE === 0) err(`${count}, ${operation}`);
    },
    end: () => live?.(''),
  };
}

function bar(share: number): string {
  const filled = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`;
}

/** Formats the summary of a walk. */
export function walkLines(summary: WalkSummary): readonly string[] {
  const { requests, walked, notWalked } = summary;
  const operations = walked.length + notWalked.length;
  return [
    `Walked ${walked.length} of ${operations} safe operations with ${countWords(requests, 'request')}${endWords(summary)}.`,
    ...unseenLines(summary),
  ];
}

/** Lists the operations without a successful response, with the reasons for each. */
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

/** Lists each status and how often it occurred, for example `status 404 ×3, no response ×1`. */
function statusWords(counts: Iterable<readonly [status: number, count: number]>): string {
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

/**
 * Returns the reason why a walk failed, or undefined if it succeeded. A walk fails if the server is unreachable, denies
 * access, or sends no successful response.
 */
export function walkFailure(
  { ended, failure, walked }: Pick<WalkSummary, 'ended' | 'failure' | 'walked'>,
  line: Pick<CommandLine, 'last'>,
  { basePath }: Pick<Profile, 'basePath'>,
): string | undefined {
  const [url, user] = [line.last('against') ?? '', line.last('user')];
  if (ended === 'unreachable')
    return `${url} does not respond${failure === undefined ? '' : `: ${failure}`}. Check the URL and make sure that the server is running.`;
  const counts = new Map<number, number>();
  for (const [status, count] of walked.flatMap(({ statuses }) => [...statuses]))
    counts.set(status, (counts.get(status) ?? 0) + count);
  const statuses = [...counts.keys()];
  // A walk without a successful response has checked nothing, so its result must not look like success.
  if (statuses.length === 0 || statuses.some((status) => status >= 200 && status < 300)) return undefined;
  const [only] = statuses;
  if (statuses.length === 1 && only === 0)
    return `${url} does not respond. Check the URL and make sure that the server is running.`;
  if (statuses.length > 1 || only === undefined)
    return `${url} returned no successful response: ${statusWords(counts)}.`;
  return `${url} responded with ${only} to all requests${hintOf(only, user, basePath)}.`;
}

function hintOf(status: number, user: string | undefined, basePath: string): string {
  if (status === 401)
    return user === undefined ? ': set --user NAME and PORTICO_PASSWORD' : ': the name or the password is wrong';
  if (status === 403) return user === undefined ? ': set --user NAME' : `: access denied for ${user}`;
  const hint = statusHint(status, basePath);
  return hint === undefined ? '' : `: ${hint}`;
}
