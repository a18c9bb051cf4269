/** The core reserved for the server under test. */
export const SERVER_CORE = 0;

/** The core shared by all other programs: the load generator, the upstream and the benchmark. */
export const LOAD_CORE = 1;
