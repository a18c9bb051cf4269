/** The first instant of the seeded history, epoch ms. */
export const SEED_START = Date.UTC(2016, 2, 1, 8, 0, 0);

/** The last instant of the seeded history, epoch ms; fixed, so that the same seed gives the same bytes on every day. */
export const SEED_END = Date.UTC(2019, 1, 6, 15, 1, 0);
