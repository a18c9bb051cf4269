import { Histogram, type Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';

/** A histogram of seconds with one label whose values are all known at start. */
export interface HistogramFamily {
  /** Observes for one label value; values that are not listed and times that are not numbers are left out. */
  observe(value: string, seconds: number): void;
  readonly series: number;
}

/** From 1 ms to 20 s: a cache hit takes about the one, the upstream's total deadline may be the other. */
export const DEFAULT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20] as const;

/** Registers a histogram and binds a child for each value of its one label. */
export function createHistogramFamily(
  registry: Registry,
  entry: MetricEntry,
  values: readonly string[],
  buckets: readonly number[] = DEFAULT_BUCKETS,
): HistogramFamily {
  const histogram = new Histogram({
    name: entry.name,
    help: entry.help,
    labelNames: [...entry.labels],
    buckets: [...buckets],
    registers: [registry],
  });
  const children = new Map<string, Histogram.Internal<string>>();
  for (const value of values) {
    histogram.zero({ [entry.labels[0] ?? '']: value });
    children.set(value, histogram.labels(value));
  }
  return {
    // The buckets, the one for infinity, the sum and the count.
    series: values.length * (buckets.length + 3),
    observe: (value, seconds) => {
      if (Number.isFinite(seconds)) children.get(value)?.observe(seconds);
    },
  };
}
