import { DAY_MS, HOUR_MS, isDay, startOfHour } from './clock.ts';
import { didYouMean } from './closest-name.ts';
import { type CommandLine, UsageError } from './command.ts';

/**
 * Returns the value of an integer flag, or `fallback` if the flag is absent. Throws a UsageError if the value is not an
 * integer or is out of bounds.
 */
export function numberFlag(
  line: CommandLine,
  flag: string,
  fallback: number,
  [min, max]: readonly [number, number],
): number {
  const text = line.last(flag);
  if (text === undefined) return fallback;
  if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new UsageError(`--${flag} must be a whole number from ${min} to ${max}`);
}

/**
 * Returns the value of a flag, or undefined if the flag is absent. Throws a UsageError if the value is not one of the
 * choices.
 */
export function choiceFlag<T extends string>(line: CommandLine, flag: string, choices: readonly T[]): T | undefined {
  const text = line.last(flag);
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw new UsageError(`--${flag} ${text}: must be one of ${choices.join(', ')}${didYouMean(text, choices)}`);
}

/**
 * Returns the start of the hour that contains the time given by `--since`, in epoch milliseconds. Whole hours are used
 * because the ledger counts per hour. Throws a UsageError if the value is invalid.
 */
export function sinceHour(text: string, now: number): number {
  const since = parseSince(text, now);
  if (since !== undefined) return startOfHour(since);
  throw new UsageError(`--since ${text}: must be 24h, 7d or an instant such as 2026-05-04T10:00Z`);
}

/** Throws a UsageError if a flag's value is not the id of a known operation. */
export function requireKnownOperation(id: string | undefined, known: readonly string[], flag: string): void {
  if (id === undefined || known.includes(id)) return;
  const hint = didYouMean(id, known) || '; portico plan lists all operations';
  throw new UsageError(`${flag} ${id}: unknown operation${hint}`);
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Parses a duration such as `30m`, `24h`, `7d` or `1w` into milliseconds. Returns undefined for any other string. */
export function parsePeriod(text: string): number | undefined {
  const { count, unit = '' } = /^(?<count>[1-9]\d{0,5})(?<unit>[mhdw])$/.exec(text)?.groups ?? {};
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/**
 * Parses a period such as `24h` or `7d`, or an ISO time (UTC by default). Returns the start of the period, or the time
 * itself, in epoch milliseconds. Returns undefined for any other string.
 */
export function parseSince(text: string, now: number): number | undefined {
  const ago = parsePeriod(text);
  if (ago !== undefined) return Math.max(0, now - ago);
  if (!INSTANT.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const zoned = !text.includes('T') || /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : Math.max(0, at);
}
