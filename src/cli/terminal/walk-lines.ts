import { countWords } from '../../report/report-words.ts';
import type { WalkSummary } from '../../walk/walk-tally.ts';
import type { CommandIo, CommandLine } from '../command.ts';

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

/** Why a walk counts as failed: the server is not there, lets nobody in, or answers nothing that the contract is about. Undefined when it went well. */
export function walkFailure(
  { ended, failure, walked }: Pick<WalkSummary, 'ended' | 'failure' | 'walked'>,
  line: Pick<CommandLine, 'last'>,
): string | undefined {
  const [url, user] = [line.last('against') ?? '', line.last('user')];
  if (ended === 'unreachable')
    return `${url} does not answer: ${failure ?? ''} Check the address, and that the server runs.`;
  const counts = new Map<number, number>();
  for (const [status, count] of walked.flatMap(({ statuses }) => [...statuses]))
    counts.set(status, (counts.get(status) ?? 0) + count);
  const statuses = [...counts.keys()];
  // Without one success nothing of the contract was seen: that must not look like a server without a fault.
  if (statuses.length === 0 || statuses.some((status) => status >= 200 && status < 300)) return undefined;
  const [only] = statuses;
  if (statuses.length === 1 && only === 0)
    return `${url} does not answer. Check the address, and that the server runs.`;
  if (statuses.length > 1 || only === undefined)
    return `${url} answers nothing with success: ${[...counts].map(([status, count]) => statusWords(status, count)).join(', ')}.`;
  return `${url} answers ${only} to everything${hintOf(only, user)}.`;
}

function hintOf(status: number, user: string | undefined): string {
  if (status === 401)
    return user === undefined ? ': give --user NAME and PORTICO_PASSWORD' : ': the name or the password is wrong';
  if (status === 403) return user === undefined ? ': give --user NAME' : `: ${user} may see nothing there`;
  if (status === 404) return ': give the address as far as what stands before /services/v2, for example http://host/qa';
  if (status >= 300 && status < 400)
    return ': it sends on to another address, such as a page to sign in at or https; give the address that answers itself';
  return ', which is no success';
}

/** One request of a walk. */
export interface WalkStep {
  readonly sent: number;
  /** Requests that wait; undefined where nobody knows how many will follow. */
  readonly left?: number | undefined;
  readonly operation: string;
}

/** Shows how far a walk is. */
export interface WalkProgress {
  readonly step: (progress: WalkStep) => void;
  /** Clears the live line. */
  readonly end: () => void;
}

/** Where nobody watches a line, one is written for so many requests. */
const EVERY = 50;

/** A live line on a terminal, else a line now and then. */
export function createWalkProgress({ live, err }: Pick<CommandIo, 'live' | 'err'>, maxRequests: number): WalkProgress {
  return {
    step: ({ sent, left, operation }) => {
      const total = left === undefined ? undefined : Math.min(maxRequests, sent + left);
      if (live !== undefined) live(`${total === undefined ? sent : `${sent}/${total}`}  ${operation}`);
      else if (sent % EVERY === 0) err(`${total === undefined ? sent : `${sent} of ${total}`} requests, ${operation}`);
    },
    end: () => live?.(''),
  };
}
