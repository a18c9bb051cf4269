import type { WalkSummary } from '../walk/walk-summary.ts';
import type { CommandLine } from './command.ts';
import { statusWords } from './walk-lines.ts';

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
