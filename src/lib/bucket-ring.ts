/** A sliding window made of buckets; old buckets are dropped when the window has moved past them. */
export interface BucketRing<T> {
  /** Returns the bucket of an instant (epoch milliseconds); creates it if it is new. */
  at(now: number): T;
  /** Returns all buckets inside the window. */
  within(now: number): readonly T[];
  clear(): void;
}

/**
 * Creates an empty window; `make` creates an empty bucket. The window moves in steps of one bucket, so it covers at
 * least `count - 1` of `count` parts of its length.
 */
export function createBucketRing<T>(windowMs: number, count: number, make: () => T): BucketRing<T> {
  const width = windowMs / count;
  let buckets: { readonly number: number; readonly value: T }[] = [];
  const numberAt = (now: number) => Math.floor(now / width);
  // After the clock is set back, buckets that lie in the future are ignored.
  const covered = (number: number, last: number) => number > last - count && number <= last;
  return {
    at(now) {
      const number = numberAt(now);
      const known = buckets.at(-1);
      if (known?.number === number) return known.value;
      const value = make();
      buckets = [...buckets.filter((bucket) => covered(bucket.number, number - 1)), { number, value }];
      return value;
    },
    within(now) {
      const last = numberAt(now);
      return buckets.filter((bucket) => covered(bucket.number, last)).map((bucket) => bucket.value);
    },
    clear() {
      buckets = [];
    },
  };
}
