/** The latencies of a run at a fixed rate, in milliseconds. */
export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/**
 * Returns the value below which the given share of the sorted values lies. For a share of 1, returns the largest
 * value. If there are no values, returns 0.
 */
export function percentileOf(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Summarizes latencies, which may be in any order. */
export function summarize(latencies: Float64Array): LatencySummary {
  const sorted = latencies.toSorted();
  const at = (share: number) => percentileOf(sorted, share);
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
}
