/** The time, as epoch milliseconds; injected wherever time decides something. */
export type Clock = () => number;

/** The machine's clock. */
export const systemClock: Clock = () => Date.now();

/** Milliseconds of an hour, the piece that the ledger counts time in. */
export const HOUR_MS = 3_600_000;

/** The hour of an instant (epoch milliseconds), in hours since the epoch. */
export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS);

/** The beginning of the hour of an instant, both in epoch milliseconds: what is counted by the hour begins there. */
export const startOfHour = (instant: number): number => hourOf(instant) * HOUR_MS;
