/** What the counts of traffic are counted in: each array grows in place, row by row. */
export interface TrafficArrays {
  /** A row per operation, a column per status class. */
  readonly requests: ArrayLike<number>;
  /** A row per operation, a column per bucket of seconds and one for the rest. */
  readonly duration: ArrayLike<number>;
  /** A row per kept operation, a column per result of the cache. */
  readonly cache: ArrayLike<number>;
  /** Exchanges with the upstream, as `duration` with buckets of their own. */
  readonly exchange: ArrayLike<number>;
  /** One per kind of failure. */
  readonly failures: ArrayLike<number>;
}

/** The traffic of operations as the metrics count it, with what its rows and columns mean. */
export interface TrafficCounts {
  /** Ids of the operations, and the name for everything outside the contract at the end. */
  readonly operations: readonly string[];
  /** Ids of the operations whose pages can be kept. */
  readonly keptOperations: readonly string[];
  readonly failureKinds: readonly string[];
  /** Upper bounds in seconds. */
  readonly buckets: { readonly duration: readonly number[]; readonly exchange: readonly number[] };
  readonly counts: TrafficArrays;
}
