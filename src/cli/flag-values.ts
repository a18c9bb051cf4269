import { closestName } from '../lib/closest-name.ts';
import { type CommandLine, UsageError } from './command.ts';

/** Returns the integer value of a flag, or `fallback` without the flag; throws UsageError outside the bounds. */
export function numberFlag(
  line: CommandLine,
  flag: string,
  fallback: number,
  [min, max]: readonly [number, number],
): number {
  const text = line.last(flag);
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new UsageError(`--${flag} must be a whole number from ${min} to ${max}`);
}

/** Throws UsageError if a flag names an unknown operation. */
export function requireKnownOperation(id: string | undefined, known: readonly string[], flag: string): void {
  if (id === undefined || known.includes(id)) return;
  const near = closestName(id, known);
  throw new UsageError(`${flag} ${id}: unknown operation${near === undefined ? '' : `; did you mean ${near}?`}`);
}
