import { DAY_MS, HOUR_MS, isDay } from '../lib/clock.ts';
import { closestName } from '../lib/closest-name.ts';
import { type CommandLine, UsageError } from './command.ts';

/**
 * Returns the integer value of a flag, or `fallback` if the flag is absent. Throws a UsageError if the value is out of
 * bounds.
 */
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

/** Throws a UsageError if a flag contains the id of an unknown operation. */
export function requireKnownOperation(id: string | undefined, known: readonly string[], flag: string): void {
  if (id === undefined || known.includes(id)) return;
  const near = closestName(id, known);
  throw new UsageError(`${flag} ${id}: unknown operation${near === undefined ? '' : `; did you mean ${near}?`}`);
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Parses a period such as `24h` or `7d`, or an ISO instant (UTC by default), to epoch milliseconds. Returns undefined
 * for any other text.
 */
export function parseSince(text: string, now: number): number | undefined {
  const ago = /^(?<count>[1-9]\d{0,5})(?<unit>[mhdw])$/.exec(text)?.groups;
  if (ago !== undefined) return Math.max(0, now - Number(ago['count']) * (UNIT_MS[ago['unit'] ?? ''] ?? 0));
  if (!INSTANT.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const zoned = !text.includes('T') || /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : Math.max(0, at);
}
