/** The arrays behind the traffic counts. Their values are updated in place. */
export interface TrafficArrays {
  /** The request counts, with one row per operation and one column per status class. */
  readonly requests: ArrayLike<number>;
  /** The request durations: one row per operation, one column per bucket, and one column for longer durations. */
  readonly duration: ArrayLike<number>;
  /** The cache lookups, with one row per cached operation and one column per cache result. */
  readonly cache: ArrayLike<number>;
  /**
   * The durations of exchanges with the upstream. The layout is the same as for `duration`, but with different buckets.
   */
  readonly exchange: ArrayLike<number>;
  /** The number of failed exchanges for each kind of failure. */
  readonly failures: ArrayLike<number>;
}

/** The traffic counts in the metrics, and what their rows and columns represent. */
export interface TrafficCounts {
  /** The operation ids. The last id stands for all undocumented paths. */
  readonly operations: readonly string[];
  /** The ids of the operations whose responses can be stored. */
  readonly cachedOperations: readonly string[];
  readonly failureKinds: readonly string[];
  /** The upper bounds of the buckets, in seconds. */
  readonly buckets: { readonly duration: readonly number[]; readonly exchange: readonly number[] };
  readonly counts: TrafficArrays;
}
