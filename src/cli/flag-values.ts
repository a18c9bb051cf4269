import { closestName } from '../lib/closest-name.ts';
import { type CommandLine, UsageError } from './command.ts';

/** A whole number that a flag gives, within bounds; `standard` without the flag. Throws UsageError. */
export function numberFlag(
  line: CommandLine,
  flag: string,
  standard: number,
  [least, most]: readonly [number, number],
): number {
  const text = line.last(flag);
  if (text === undefined) return standard;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new UsageError(`--${flag} must be a whole number from ${least} to ${most}`);
}

/** Throws UsageError where a flag names an operation that there is not; an absent flag names none. */
export function knownOperation(id: string | undefined, known: readonly string[], flag: string): void {
  if (id === undefined || known.includes(id)) return;
  const near = closestName(id, known);
  throw new UsageError(
    `${flag} ${id}: there is no such operation${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}
