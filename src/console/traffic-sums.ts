import { bucketQuantile } from '../lib/bucket-quantile.ts';
import { CACHE_RESULTS, STATUS_CLASSES } from '../telemetry/metric-families.ts';
import type { TrafficStep, TrafficWindow } from '../telemetry/traffic-history.ts';

/** The sums of the traffic for one operation or for all operations, over several time steps. */
export interface TrafficSums {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly aborted: number;
  /** The median latency in seconds. Undefined if nothing was measured. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  /** The share of cache lookups that were served from the cache, from 0 to 1. Undefined if there were no lookups. */
  readonly hitRatio: number | undefined;
}

/** Sums the traffic over the given steps, for one operation or for all operations. */
export function trafficSums(window: TrafficWindow, steps: readonly TrafficStep[], operation?: string): TrafficSums {
  const rows = operation === undefined ? undefined : window.operations.indexOf(operation);
  const cacheRow = operation === undefined ? undefined : window.cachedOperations.indexOf(operation);
  const classes = sumRow(steps, 'requests', STATUS_CLASSES.length, rows);
  const of = (name: (typeof STATUS_CLASSES)[number]) => classes[STATUS_CLASSES.indexOf(name)] ?? 0;
  const seconds = sumRow(steps, 'duration', window.buckets.duration.length + 1, rows);
  const results = sumRow(steps, 'cache', CACHE_RESULTS.length, cacheRow);
  const lookups = results.reduce((sum, count) => sum + count, 0);
  const served = (results[CACHE_RESULTS.indexOf('hit')] ?? 0) + (results[CACHE_RESULTS.indexOf('stale')] ?? 0);
  return {
    requests: classes.reduce((sum, count) => sum + count, 0),
    clientErrors: of('4xx'),
    serverErrors: of('5xx'),
    aborted: of('aborted'),
    p50: bucketQuantile(0.5, window.buckets.duration, seconds),
    p99: bucketQuantile(0.99, window.buckets.duration, seconds),
    hitRatio: lookups === 0 ? undefined : served / lookups,
  };
}

/** Sums one row of a table of counts over the steps, or all rows if no row is given. */
export function sumRow(
  steps: readonly TrafficStep[],
  part: keyof TrafficStep['counts'],
  columns: number,
  row?: number,
): readonly number[] {
  const sums = Array.from({ length: columns }, () => 0);
  if (row === -1) return sums;
  for (const { counts } of steps) {
    const values = counts[part];
    const from = row === undefined ? 0 : row * columns;
    const to = row === undefined ? values.length : from + columns;
    for (let index = from; index < to; index++)
      sums[index % columns] = (sums[index % columns] ?? 0) + (values[index] ?? 0);
  }
  return sums;
}
