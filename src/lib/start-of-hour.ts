const HOUR_MS = 3_600_000;

/** The beginning of the hour of an instant, both in epoch milliseconds: what is counted by the hour begins there. */
export const startOfHour = (at: number): number => at - (at % HOUR_MS);
