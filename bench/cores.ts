/** The core that is reserved for the server under test. */
export const SERVER_CORE = 0;

/** The core that all other programs share: the load generator, the upstream and the benchmark. */
export const LOAD_CORE = 1;
