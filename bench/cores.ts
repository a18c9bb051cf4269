/** The core that the server under test has for itself. */
export const SERVER_CORE = 0;

/** The core that everything else shares: load generator, upstream and this program. */
export const LOAD_CORE = 1;
