import { bucketQuantile } from '../lib/bucket-quantile.ts';
import { CACHE_RESULTS, STATUS_CLASSES } from '../telemetry/label-values.ts';
import type { TrafficStep, TrafficWindow } from '../telemetry/traffic-history.ts';

/** What was counted of some operations in some steps. */
export interface TrafficSums {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly aborted: number;
  /** Seconds; undefined where nothing was observed. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  /** Share of the requests that met the cache and were answered from it, 0 to 1; undefined where none met it. */
  readonly hitRatio: number | undefined;
}

/** Adds up the steps, of one operation or of all. */
export function trafficSums(window: TrafficWindow, steps: readonly TrafficStep[], operation?: string): TrafficSums {
  const rows = operation === undefined ? undefined : window.operations.indexOf(operation);
  const kept = operation === undefined ? undefined : window.cachedOperations.indexOf(operation);
  const classes = sumRow(steps, 'requests', STATUS_CLASSES.length, rows);
  const of = (name: (typeof STATUS_CLASSES)[number]) => classes[STATUS_CLASSES.indexOf(name)] ?? 0;
  const seconds = sumRow(steps, 'duration', window.buckets.duration.length + 1, rows);
  const results = sumRow(steps, 'cache', CACHE_RESULTS.length, kept);
  const met = results.reduce((sum, count) => sum + count, 0);
  const answered = (results[CACHE_RESULTS.indexOf('hit')] ?? 0) + (results[CACHE_RESULTS.indexOf('stale')] ?? 0);
  return {
    requests: classes.reduce((sum, count) => sum + count, 0),
    clientErrors: of('4xx'),
    serverErrors: of('5xx'),
    aborted: of('aborted'),
    p50: bucketQuantile(0.5, window.buckets.duration, seconds),
    p99: bucketQuantile(0.99, window.buckets.duration, seconds),
    hitRatio: met === 0 ? undefined : answered / met,
  };
}

/** One row of a table of counts, or the sum of all rows, added up over steps. */
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
