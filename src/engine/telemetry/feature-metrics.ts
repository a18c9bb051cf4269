import { Counter, Gauge, type Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';

/** Where features register their metrics. A feature that starts again continues its counts. */
export interface FeatureMetrics {
  /**
   * Returns a counter with one series for each combination of the label values, which are given in the order of the
   * entry's labels. A value that is not listed is ignored, so that labels stay bounded.
   */
  counter(entry: MetricEntry, values: readonly (readonly string[])[]): (...labels: readonly string[]) => void;
  /**
   * Registers a metric that is read on each scrape. `rows` returns the value of each series with its label values, which
   * are in the order of the entry's labels. Their number must be bounded.
   */
  read(entry: MetricEntry, rows: () => readonly MetricRow[]): void;
}

/** The label values of a series, and its value. */
export type MetricRow = readonly [labels: readonly string[], value: number];

/** Creates the metrics of all features in a registry. `series` returns the number of their series. */
export function createFeatureMetrics(registry: Registry): FeatureMetrics & { readonly series: () => number } {
  const known = new Map<string, { readonly counter: Counter; readonly series: Set<string> }>();
  /** The functions that return the rows of the metrics that are read on each scrape, by metric. */
  const readers = new Map<string, () => readonly MetricRow[]>();
  return {
    read({ name, help, labels, type }, rows) {
      const isKnown = readers.has(name);
      readers.set(name, rows);
      if (isKnown) return;
      const collect = () => {
        metric.reset();
        // The metric has just been reset to 0, so incrementing it by a value sets it to that value.
        for (const [given, value] of readers.get(name)?.() ?? []) metric.inc(labelsOf(labels, given), value);
      };
      const config = { name, help, labelNames: [...labels], registers: [registry], collect };
      const metric: Counter | Gauge = new (type === 'counter' ? Counter : Gauge)(config);
    },
    counter(entry, values) {
      const { name, help, labels } = entry;
      const metric = known.get(name) ?? {
        counter: new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
        series: new Set<string>(),
      };
      known.set(name, metric);
      for (const combination of combinations(values)) {
        metric.counter.inc(labelsOf(labels, combination), 0);
        metric.series.add(JSON.stringify(combination));
      }
      return (...given) => {
        if (metric.series.has(JSON.stringify(given))) metric.counter.inc(labelsOf(labels, given));
      };
    },
    series: () =>
      [...known.values()].reduce((sum, { series }) => sum + series.size, 0) +
      [...readers.values()].reduce((sum, rows) => sum + rows().length, 0),
  };
}

const labelsOf = (labels: readonly string[], given: readonly string[]) =>
  Object.fromEntries(labels.map((label, index) => [label, given[index] ?? '']));

const combinations = (values: readonly (readonly string[])[]): string[][] =>
  values.reduce<string[][]>((all, next) => all.flatMap((one) => next.map((value) => [...one, value])), [[]]);
