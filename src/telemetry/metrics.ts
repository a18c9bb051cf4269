import { Registry } from 'prom-client';
import type { Trace } from '../model/trace.ts';
import { createGauges, type MetricSources } from './metric-gauges.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { processMetrics } from './process-metrics.ts';
import { createTraceCounters } from './trace-counters.ts';

/** Counts traces and prints the exposition text. */
export interface Metrics {
  /** Counts one finished request. */
  record(trace: Trace): void;
  /** Connects gauges with what they read at each scrape; unconnected ones read 0. */
  watch(sources: MetricSources): void;
  /** The text of a scrape, metrics of the process included. */
  exposition(): Promise<string>;
  readonly contentType: string;
  /** Number of Portico's own series (lines of a scrape), fixed from the start. */
  seriesCount(): number;
}

/** Creates Portico's metrics on a registry of their own; every series exists from the start. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const counters = createTraceCounters(registry, options);
  const gauges = createGauges(registry, options);
  return {
    record: (trace) => counters.record(trace),
    watch: (sources) => gauges.watch(sources),
    exposition: async () => `${await registry.metrics()}\n${await processMetrics().metrics()}`,
    contentType: registry.contentType,
    seriesCount: () => counters.series + gauges.series,
  };
}
