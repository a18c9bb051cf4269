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

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Parses `24h`, `7d` or an ISO instant (UTC by default) to epoch ms; returns undefined for any other text. */
export function parseSince(text: string, now: number): number | undefined {
  const ago = /^(?<count>[1-9]\d{0,5})(?<unit>[mhdw])$/.exec(text)?.groups;
  if (ago !== undefined) return Math.max(0, now - Number(ago['count']) * (UNIT_MS[ago['unit'] ?? ''] ?? 0));
  if (!INSTANT.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const zoned = !text.includes('T') || /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : Math.max(0, at);
}

/** Returns false for dates that do not exist, such as 30 February, which Date accepts as a day in March. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}
