/** Returns the current time in epoch milliseconds. Code that depends on the time receives a clock as a parameter. */
export type Clock = () => number;

/** The system clock. */
export const systemClock: Clock = Date.now;

/** The number of milliseconds in an hour. The ledger counts by the hour. */
export const HOUR_MS = 3_600_000;

/** The number of milliseconds in a day. */
export const DAY_MS = 24 * HOUR_MS;

/** Returns the hour that contains an instant (epoch milliseconds), in hours since the epoch. */
export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS);

/** Returns the start of the hour that contains an instant, both in epoch milliseconds. */
export const startOfHour = (instant: number): number => hourOf(instant) * HOUR_MS;

/**
 * Returns whether a string is a calendar date in the format `YYYY-MM-DD`. `Date` alone would accept February 30 and
 * treat it as a day in March.
 */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Returns the end of a day in UTC, in epoch milliseconds, or NaN if the string is not a date. */
export function endOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}
