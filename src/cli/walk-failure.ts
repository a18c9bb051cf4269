import type { WalkSummary } from '../walk/walk-summary.ts';
import type { CommandLine } from './command.ts';

/** Why a walk counts as failed: the server is not there, or lets nobody in; undefined when it does not. */
export function walkFailure({ ended, failure, walked }: WalkSummary, line: CommandLine): string | undefined {
  const url = line.last('against') ?? '';
  if (ended === 'unreachable')
    return `${url} does not answer: ${failure ?? ''} Check the address, and that the server runs.`;
  const statuses = walked.flatMap((one) => [...one.statuses.keys()]);
  if (statuses.length === 0 || statuses.some((status) => status !== 401)) return undefined;
  return line.last('user') === undefined
    ? `${url} answers 401 to everything: give --user NAME and PORTICO_PASSWORD.`
    : `${url} answers 401 to everything: the name or the password is wrong.`;
}
