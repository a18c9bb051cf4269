import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Trace } from '../model/trace.ts';
import { createLadderMetrics, type LadderCounters } from './ladder-metrics.ts';
import { createGauges, type MetricSources } from './metric-gauges.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { createTraceCounters } from './trace-counters.ts';
import type { TrafficCounts } from './traffic-history.ts';

/** Counts traces and prints the exposition text. */
export interface Metrics {
  /** Counts one finished request. */
  record(trace: Trace): void;
  /** Connects gauges with what they read at each scrape; unconnected ones read 0. */
  watch(sources: MetricSources): void;
  /** Counts what moved on the ladder. */
  readonly ladder: LadderCounters;
  /** The text of a scrape, metrics of the process included. */
  exposition(): Promise<string>;
  readonly contentType: string;
  /** Number of Portico's own series (lines of a scrape), fixed from the start. */
  seriesCount(): number;
  /** How many operations have no series of their own, because there would be too many. */
  foldedOperations(): number;
  /** The counts that the traffic of operations is told from; the arrays are those that `record` counts in. */
  readonly traffic: TrafficCounts;
}

/** So many series make a scrape of about a megabyte: a contract of some 140 operations. */
const MAX_SERIES = 10_000;
/** The ladder takes at most a fifth of them. */
const LADDER_SHARE = 5;

/** Creates Portico's metrics on a registry of their own; every series exists from the start. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  let last = { seconds: 0, bytes: 0 };
  const gauges = createGauges(registry, options, () => ({ ...last, series, foldedOperations }));
  const maxSeries = options.maxSeries ?? MAX_SERIES;
  const ids = options.operations.map(({ id }) => id);
  const ladder = createLadderMetrics(ids, gauges.checksFor, gauges.demoted, Math.floor(maxSeries / LADDER_SHARE));
  const fixed = gauges.series + ladder.series;
  const { counters, foldedOperations } = boundedCounters(options, maxSeries - fixed);
  const series = counters.series + fixed;
  return {
    record: (trace) => counters.record(trace),
    watch: (sources) => gauges.watch(sources),
    ladder,
    exposition: async () => {
      const startedAt = performance.now();
      const parts = [counters.text(), ladder.text(), await registry.metrics(), await processMetrics().metrics()];
      const text = parts.join('\n');
      last = { seconds: (performance.now() - startedAt) / 1000, bytes: Buffer.byteLength(text) };
      return text;
    },
    contentType: registry.contentType,
    seriesCount: () => series,
    foldedOperations: () => foldedOperations,
    traffic: counters.traffic,
  };
}

/** As many operations get series of their own as there is room for; the others are counted together. */
function boundedCounters(options: MetricsOptions, maxSeries: number) {
  const total = options.operations.length;
  let counters = createTraceCounters(options);
  if (counters.series <= maxSeries) return { counters, foldedOperations: 0 };
  const shared = createTraceCounters(options, 0).series;
  const each = (counters.series - shared) / total;
  let own = Math.max(0, Math.min(total - 1, Math.floor((maxSeries - shared) / each)));
  counters = createTraceCounters(options, own);
  while (counters.series > maxSeries && own > 0) {
    own -= 1;
    counters = createTraceCounters(options, own);
  }
  return { counters, foldedOperations: total - own };
}

// Their `type` label takes whatever names Node has for open things: not a fixed set. The sums of them are gauges with the name
// of a counter, which promtool finds fault with and a rate over them would be wrong.
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((thing) => [
  `nodejs_active_${thing}`,
  `nodejs_active_${thing}_total`,
]);

let shared: Registry | undefined;

/** The metrics of the process itself (CPU, memory, event loop, collector), once per process because their observers are never given back. */
export function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of LEFT_OUT) shared.removeSingleMetric(name);
  }
  return shared;
}
