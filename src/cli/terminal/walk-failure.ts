import { statusHint } from '../../upstream/failures/failure-hints.ts';
import type { WalkSummary } from '../../walk/walk.ts';
import type { CommandLine } from '../command.ts';
import { statusWords } from './walk-lines.ts';

/**
 * Returns the reason why a walk failed, or undefined if it succeeded. A walk fails if the server is unreachable, if it
 * denies access, or if it sends no successful response.
 */
export function walkFailure(
  { ended, failure, walked }: Pick<WalkSummary, 'ended' | 'failure' | 'walked'>,
  line: Pick<CommandLine, 'last'>,
): string | undefined {
  const [url, user] = [line.last('against') ?? '', line.last('user')];
  if (ended === 'unreachable')
    return `${url} does not respond: ${failure ?? ''} Check the URL and make sure that the server is running.`;
  const counts = new Map<number, number>();
  for (const [status, count] of walked.flatMap(({ statuses }) => [...statuses]))
    counts.set(status, (counts.get(status) ?? 0) + count);
  const statuses = [...counts.keys()];
  // A walk without a successful response has checked nothing, so its result must not look like a result without
  // violations.
  if (statuses.length === 0 || statuses.some((status) => status >= 200 && status < 300)) return undefined;
  const [only] = statuses;
  if (statuses.length === 1 && only === 0)
    return `${url} does not respond. Check the URL and make sure that the server is running.`;
  if (statuses.length > 1 || only === undefined)
    return `${url} returned no successful response: ${statusWords(counts)}.`;
  return `${url} responded with ${only} to all requests${hintOf(only, user)}.`;
}

function hintOf(status: number, user: string | undefined): string {
  if (status === 401)
    return user === undefined ? ': set --user NAME and PORTICO_PASSWORD' : ': the name or the password is wrong';
  if (status === 403) return user === undefined ? ': set --user NAME' : `: access denied for ${user}`;
  const hint = statusHint(status);
  return hint === undefined ? '' : `: ${hint}`;
}
