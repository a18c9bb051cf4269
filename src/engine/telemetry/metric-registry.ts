import { collectDefaultMetrics, Gauge, type OpenMetricsContentType, Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';
import { createStoredCounter, type StoredCounter } from './stored-counter.ts';
import {
  createReadMetric,
  type LabelValues,
  type MetricRow,
  type Sample,
  seriesOf,
  type StoredMetric,
} from './stored-metric.ts';

/** Where features register their metrics. A feature that starts again continues its counts. */
export interface FeatureMetrics {
  /**
   * Returns a counter with one series for each combination of the label values, which are given in the order of the
   * entry's labels. A value that is not listed is ignored, so that labels stay bounded.
   */
  counter(entry: MetricEntry, values: LabelValues): StoredCounter['inc'];
  /**
   * Registers a metric that is read on each scrape. `rows` returns the value of each series with its label values, which
   * are in the order of the entry's labels. Their number must be bounded.
   */
  read(entry: MetricEntry, rows: () => readonly MetricRow[]): void;
}

/** The scrape formats: Prometheus's text format, and OpenMetrics, which can contain exemplars. */
export type MetricsFormat = 'text' | 'openMetrics';

/** All metrics of a gateway, in the registry of the metrics library. */
export interface MetricRegistry extends FeatureMetrics {
  /** Registers a metric. It replaces an earlier one with the same name. */
  add(metric: StoredMetric): void;
  /** Returns the number of series of all metrics, except for those of the process. */
  series(): number;
  /** Returns the text for a scrape. */
  exposition(format: MetricsFormat): Promise<string>;
}

/** The media types of the scrape formats. */
export const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openMetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/** Creates a registry that contains only the metrics of the process. */
export function createMetricRegistry(): MetricRegistry {
  const metrics = new Map<string, StoredMetric>();
  // The library changes the names of counters when it writes OpenMetrics, so each format has objects of its own.
  const text = new Registry();
  const openMetrics = new Registry<OpenMetricsContentType>();
  openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const register = (entry: MetricEntry, samples: () => Samples) => {
    for (const registry of [text, openMetrics]) registry.registerMetric(new MetricOfSamples(entry, samples));
  };
  for (const { entry, samples } of processMetrics()) register(entry, samples);
  const add = (metric: StoredMetric) => {
    const { name } = metric.entry;
    if (!metrics.has(name)) register(metric.entry, () => metrics.get(name)?.samples() ?? []);
    metrics.set(name, metric);
  };
  const counters = new Map<string, StoredCounter>();
  return {
    add,
    read: (entry, rows) => add(createReadMetric(entry, rows)),
    counter(entry, values) {
      const earlier = counters.get(entry.name);
      earlier?.relabel(values.map((axis, label) => [...new Set([...(earlier.values[label] ?? []), ...axis])]));
      const counter = earlier ?? createStoredCounter(entry, values);
      counters.set(entry.name, counter);
      add(counter);
      return counter.inc;
    },
    series: () => seriesOf([...metrics.values()]),
    exposition: (format) => (format === 'text' ? text : openMetrics).metrics(),
  };
}

type Samples = readonly Sample[] | Promise<readonly Sample[]>;

/** A metric of the library that is given its samples on each scrape, whatever its type. */
class MetricOfSamples extends Gauge {
  /** The type that the library writes. */
  readonly type: MetricEntry['type'];
  readonly #samples: () => Samples;

  constructor({ name, type, labels, help }: MetricEntry, samples: () => Samples) {
    super({ name, help, labelNames: [...labels], registers: [] });
    this.type = type;
    this.#samples = samples;
  }

  override async get() {
    return { ...(await super.get()), values: [...(await this.#samples())] };
  }
}

// The `type` labels of these Node metrics are the names of open resources, which are not a fixed set. The totals are
// gauges with counter-like names, so promtool rejects them, and rates computed from them would be wrong.
const EXCLUDED = ['handles', 'requests', 'resources'].flatMap((thing) => [
  `nodejs_active_${thing}`,
  `nodejs_active_${thing}_total`,
]);

let shared: Registry | undefined;

/**
 * Returns the metrics of the process: CPU, memory, event loop and garbage collector. They are created only once per
 * process, because the observers that they use cannot be removed.
 */
function processMetrics(): { readonly entry: MetricEntry; readonly samples: () => Promise<readonly Sample[]> }[] {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of EXCLUDED) shared.removeSingleMetric(name);
  }
  const registry = shared;
  return registry.getMetricsAsArray().map(({ name, help, type }) => {
    const entry = { name, help, type: type as unknown as MetricEntry['type'], labels: [] };
    return { entry, samples: async () => ((await registry.getSingleMetric(name)?.get())?.values ?? []) as Sample[] };
  });
}
