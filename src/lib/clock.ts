/** The time, as epoch milliseconds; injected wherever time decides something. */
export type Clock = () => number;

/** The machine's clock. */
export const systemClock: Clock = () => Date.now();
