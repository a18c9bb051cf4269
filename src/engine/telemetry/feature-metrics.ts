import { Counter, type Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';

/** Where features register their metrics. A feature that starts again continues its counts. */
export interface FeatureMetrics {
  /**
   * Returns a counter with one series for each combination of the label values, which are given in the order of the
   * entry's labels. A value that is not listed is ignored, so that labels stay bounded.
   */
  counter(entry: MetricEntry, values: readonly (readonly string[])[]): (...labels: readonly string[]) => void;
}

/** Creates the metrics of all features in a registry. `series` returns the number of their series. */
export function createFeatureMetrics(registry: Registry): FeatureMetrics & { readonly series: () => number } {
  const known = new Map<string, { readonly counter: Counter; readonly series: Set<string> }>();
  return {
    counter(entry, values) {
      const { name, help, labels } = entry;
      const metric = known.get(name) ?? {
        counter: new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
        series: new Set<string>(),
      };
      known.set(name, metric);
      const labelsOf = (given: readonly string[]) =>
        Object.fromEntries(labels.map((label, index) => [label, given[index] ?? '']));
      for (const combination of combinations(values)) {
        metric.counter.inc(labelsOf(combination), 0);
        metric.series.add(JSON.stringify(combination));
      }
      return (...given) => {
        if (metric.series.has(JSON.stringify(given))) metric.counter.inc(labelsOf(given));
      };
    },
    series: () => [...known.values()].reduce((sum, { series }) => sum + series.size, 0),
  };
}

const combinations = (values: readonly (readonly string[])[]): string[][] =>
  values.reduce<string[][]>((all, next) => all.flatMap((one) => next.map((value) => [...one, value])), [[]]);
