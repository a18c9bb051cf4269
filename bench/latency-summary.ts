/** Latencies of a run at a fixed rate, in milliseconds. */
export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Returns the value below which the given share of sorted values lies: the largest for 1, and 0 without values. */
export function percentileOf(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Summarizes latencies in any order. */
export function summarize(latencies: Float64Array): LatencySummary {
  const sorted = latencies.toSorted();
  const at = (share: number) => percentileOf(sorted, share);
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
}
