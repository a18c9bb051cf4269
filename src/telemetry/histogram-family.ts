import type { Histogram, Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';

/** A histogram of seconds with one label whose values are all known at start. */
export interface HistogramFamily {
  /** Observes for one label value; values that are not listed and times that are not numbers are left out. */
  observe(value: string, seconds: number): void;
  readonly series: number;
}

/** From 1 ms to 20 s: a cache hit takes about the one, the upstream's total deadline may be the other. */
export const DEFAULT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20] as const;

/** One line of the exposition. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Registers a histogram over the values of its one label. The library checks and hashes labels at every observation, children
 * that it bound before included, so counts live in arrays here and are handed over at each scrape.
 */
export function createHistogramFamily(
  registry: Registry,
  entry: MetricEntry,
  values: readonly string[],
  buckets: readonly number[] = DEFAULT_BUCKETS,
): HistogramFamily {
  const rows = new Map(values.map((value, row) => [value, row]));
  const width = buckets.length + 1;
  const counts = new Float64Array(values.length * width);
  const sums = new Float64Array(values.length);

  const samplesOf = (value: string, row: number): Sample[] => {
    const labels = { [entry.labels[0] ?? '']: value };
    let count = 0;
    const cumulative = [...buckets, '+Inf'].map((le, column): Sample => {
      count += counts[row * width + column] ?? 0;
      return { metricName: `${entry.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${entry.name}_sum`, labels, value: sums[row] ?? 0 },
      { metricName: `${entry.name}_count`, labels, value: count },
    ];
  };
  const metric = {
    name: entry.name,
    get: () =>
      Promise.resolve({
        name: entry.name,
        help: entry.help,
        type: entry.type,
        aggregator: 'sum',
        values: values.flatMap(samplesOf),
      }),
    reset: () => {
      counts.fill(0);
      sums.fill(0);
    },
  };
  // What the registry needs of a metric is its name and `get`; its type names classes only.
  registry.registerMetric(metric as unknown as Histogram);

  return {
    // The buckets, the one for infinity, the sum and the count.
    series: values.length * (buckets.length + 3),
    observe(value, seconds) {
      const row = rows.get(value);
      if (row === undefined || !Number.isFinite(seconds)) return;
      let column = 0;
      while (column < buckets.length && seconds > (buckets[column] ?? 0)) column += 1;
      const at = row * width + column;
      counts[at] = (counts[at] ?? 0) + 1;
      sums[row] = (sums[row] ?? 0) + seconds;
    },
  };
}
