import type { TrafficStep, TrafficWindow } from '../telemetry/traffic-history.ts';
import type { ConsoleSources } from './console-sources.ts';
import { trafficSums, type TrafficSums } from './traffic-sums.ts';

/** A row in the traffic table. */
interface TrafficRow extends TrafficSums {
  readonly operation: string;
  readonly method: string | undefined;
  readonly path: string | undefined;
}

/** The data that the traffic page shows. */
interface TrafficView {
  /** The start of the period, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
  /** The upper bounds of the latency buckets in seconds. A percentile outside them is reported as the nearest bound. */
  readonly bounds: readonly number[];
  readonly total: TrafficSums;
  readonly rows: readonly TrafficRow[];
  /** The points in the charts, for the requested operation or for all operations. */
  readonly points: readonly (TrafficSums & { readonly at: number; readonly seconds: number })[];
}

/** The maximum number of points. More could not be told apart on a screen. */
const MAX_POINTS = 90;

/** Returns the data for the tables and charts over the requested number of minutes. */
export function trafficView(
  { traffic, operations }: Pick<ConsoleSources, 'traffic' | 'operations'>,
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
 * Groups the steps into points that start at round times, so that a point no longer changes once the next one has
 * begun.
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
  // The newest group has only just begun, so its rate would fluctuate. It is therefore merged with the previous group.
  const [before, newest] = points.slice(-2);
  if (before !== undefined && newest !== undefined) {
    const merged = [...before.steps, ...newest.steps];
    points.splice(-2, 2, { at: before.at, steps: merged, seconds: before.seconds + newest.seconds });
  }
  return points.map((point) => Object.assign(point, { seconds: Math.max(stepSeconds, point.seconds) }));
}
