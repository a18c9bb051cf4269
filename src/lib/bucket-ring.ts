/** A sliding window as a ring of buckets: what was put in is forgotten once the window has passed over it. */
export interface BucketRing<T> {
  /** The bucket of this instant (epoch milliseconds), empty when it has just begun. */
  at(now: number): T;
  /** All buckets that the window still covers. */
  within(now: number): readonly T[];
  clear(): void;
}

/** Creates an empty ring; `make` gives an empty bucket. The window moves in steps of a bucket, so that it covers at least `count - 1` of `count` parts of its length. */
export function createBucketRing<T>(windowMs: number, count: number, make: () => T): BucketRing<T> {
  const width = windowMs / count;
  let buckets: { readonly number: number; readonly value: T }[] = [];
  const numberAt = (now: number) => Math.floor(now / width);
  // A clock that was set back leaves buckets of the future behind, which count for nothing.
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
