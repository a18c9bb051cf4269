/** Returns the time in epoch milliseconds; injected wherever behavior depends on time. */
export type Clock = () => number;

/** The machine's clock. */
export const systemClock: Clock = Date.now;

/** The milliseconds of an hour, the unit in which the ledger counts. */
export const HOUR_MS = 3_600_000;

/** Returns the hour of an instant (epoch milliseconds), in hours since the epoch. */
export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS);

/** Returns the start of the hour of an instant, both in epoch milliseconds. */
export const startOfHour = (instant: number): number => hourOf(instant) * HOUR_MS;
