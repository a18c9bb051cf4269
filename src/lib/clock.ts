/** Returns the time in epoch milliseconds; injected wherever behavior depends on time. */
export type Clock = () => number;

/** The machine's clock. */
export const systemClock: Clock = Date.now;

/** The milliseconds of an hour, the unit in which the ledger counts. */
export const HOUR_MS = 3_600_000;

/** The milliseconds of a day. */
export const DAY_MS = 24 * HOUR_MS;

/** Returns the hour of an instant (epoch milliseconds), in hours since the epoch. */
export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS);

/** Returns the start of the hour of an instant, both in epoch milliseconds. */
export const startOfHour = (instant: number): number => hourOf(instant) * HOUR_MS;

/** Returns true for a calendar date in the format `YYYY-MM-DD`. `Date` itself accepts 30 February as a day in March. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Returns the first instant after a day, in epoch milliseconds; NaN if it is not a date. Days are in UTC. */
export function endOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}
