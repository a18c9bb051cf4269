import { bucketQuantile } from '../../lib/bucket-quantile.ts';
import { CACHE_RESULTS, STATUS_CLASSES } from '../../engine/telemetry/label-values.ts';
import type { TrafficStep, TrafficWindow } from './traffic-history.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { ConsoleSources } from './console-sources.ts';

interface TrafficRow extends TrafficSums {
  readonly operation: string;
  readonly method: string | undefined;
  readonly path: string | undefined;
}

interface TrafficView {
  /** The start of the period, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
  /** The upper bounds of the latency buckets, in seconds. They also limit the percentiles that can be reported. */
  readonly bounds: readonly number[];
  readonly total: TrafficSums;
  readonly rows: readonly TrafficRow[];
  /** The data points for the charts, either for the requested operation or for all operations. */
  readonly points: readonly (TrafficSums & { readonly at: number; readonly seconds: number })[];
}

/** The maximum number of points. Additional points could not be distinguished on a screen. */
const MAX_POINTS = 90;

/** Returns the data for the tables and charts, which cover the requested number of minutes. */
export function trafficView(
  {
    traffic,
    operations,
  }: Pick<ConsoleSources, 'traffic'> & { readonly operations: readonly Pick<Operation, 'id' | 'method' | 'path'>[] },
  request: { readonly minutes: number; readonly operation: string },
): TrafficView {
  const window = traffic.window(request.minutes * 60);
  const known = new Map(operations.map((one) => [one.id, one]));
  const operation = window.operations.includes(request.operation) ? request.operation : undefined;
  return {
    since: window.since,
    until: window.until,
    bounds: window.buckets.duration,
    total: trafficSums(window, window.steps),
    rows: window.operations.map((id) => {
      const { method, path } = known.get(id) ?? { method: undefined, path: undefined };
      return Object.assign({ operation: id, method, path }, trafficSums(window, window.steps, id));
    }),
    points: pointsOf(window, request.minutes * 60).map(({ steps, ...when }) => {
      return Object.assign(when, trafficSums(window, steps, operation));
    }),
  };
}

/**
 * Groups the time steps into points that start at round times, so a point never changes once the next one has begun.
 */
function pointsOf({ steps, stepSeconds, since, until }: TrafficWindow, seconds: number) {
  const groupMs = Math.ceil(seconds / stepSeconds / MAX_POINTS) * stepSeconds * 1000;
  const groups = new Map<number, TrafficStep[]>();
  for (const step of steps) {
    const at = Math.floor(step.at / groupMs) * groupMs;
    groups.set(at, [...(groups.get(at) ?? []), step]);
  }
  const points = [...groups].map(([at, grouped]) => {
    const from = Math.max(at, since, grouped[0]?.at ?? at);
    return { at, steps: grouped, seconds: (Math.min(at + groupMs, until) - from) / 1000 };
  });
  // The newest group covers only a short time, so its rate would fluctuate. It is therefore merged with the previous
  // group.
  const [before, newest] = points.slice(-2);
  if (before !== undefined && newest !== undefined) {
    const merged = [...before.steps, ...newest.steps];
    points.splice(-2, 2, { at: before.at, steps: merged, seconds: before.seconds + newest.seconds });
  }
  return points.map((point) => Object.assign(point, { seconds: Math.max(stepSeconds, point.seconds) }));
}

/** Traffic for one operation or for all operations, summed over several time steps. */
interface TrafficSums {
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

/** Sums the traffic over the given time steps, for one operation or for all operations. */
function trafficSums(window: TrafficWindow, steps: readonly TrafficStep[], operation?: string): TrafficSums {
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

/** Sums one row in a table of counts across the given time steps. If no row is given, sums all rows. */
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
