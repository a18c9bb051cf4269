import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { CHECK_NAMES, type Checks, MODE_NAMES } from '../model/checks.ts';
import type { Trace } from '../model/trace.ts';
import { createLadderMetrics, type LadderCounters } from './ladder-metrics.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { createTraceCounters } from './trace-counters.ts';
import type { TrafficCounts } from './traffic-history.ts';

/** Portico's metrics. They count finished traces and provide the text for scrapes. */
export interface Metrics {
  /** Counts one finished request. */
  record(trace: Trace): void;
  /** Connects gauges to the sources that they read at each scrape. A gauge without a source reads 0. */
  watch(sources: MetricSources): void;
  /** Counters for promotions, demotions and alerts of the ladder. */
  readonly ladder: LadderCounters;
  /** Returns the text of a scrape, including the metrics of the process. */
  exposition(): Promise<string>;
  readonly contentType: string;
  /** Returns the number of Portico's own series (lines of a scrape), which is fixed at startup. */
  seriesCount(): number;
  /** Returns the number of operations without separate series (see `maxSeries`). */
  foldedOperations(): number;
  /** The counts behind the traffic history; `record` updates these arrays in place. */
  readonly traffic: TrafficCounts;
}

/** Enough series for a contract with about 110 operations. A scrape is then about one megabyte. */
const MAX_SERIES = 10_000;
/** The ladder may use at most a fifth of the series. */
const LADDER_SHARE = 5;

/** Creates Portico's metrics in a separate registry. Every series exists from startup on. */
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
    record: counters.record,
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

/** Creates separate series for as many operations as fit; the others are counted together. */
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

// The `type` label of these metrics contains Node's names for open resources, which are not a fixed set. Their totals
// are gauges that are named like counters, so promtool rejects them, and rates computed from them would be wrong.
const EXCLUDED = ['handles', 'requests', 'resources'].flatMap((thing) => [
  `nodejs_active_${thing}`,
  `nodejs_active_${thing}_total`,
]);

let shared: Registry | undefined;

/**
 * Returns the process metrics: CPU, memory, event loop and garbage collector. They are created only once per process,
 * because their observers cannot be removed.
 */
function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of EXCLUDED) shared.removeSingleMetric(name);
  }
  return shared;
}

/** The sources of the values that are read at each scrape. */
interface MetricSources {
  readonly upstreamInFlight?: () => number;
  readonly upstreamQueued?: () => number;
  readonly upstreamStreams?: () => number;
  readonly limitsExceeded?: () => number;
  readonly upstreamCircuitOpen?: () => boolean;
  readonly cacheEntries?: () => number;
  readonly cacheBytes?: () => number;
  readonly ledgerEntries?: () => number;
  readonly ledgerDropped?: () => number;
  readonly candidateDropped?: () => number;
  readonly ready?: () => boolean;
  /** Returns the current levels of an operation. */
  readonly operationChecks?: (operation: string) => Checks;
  /** Returns the operations whose check `responses` is demoted to `report`. */
  readonly demoted?: () => readonly string[];
}

const LEVELS = ['off', 'report', 'enforce'] as const;

/** Measurements of the scrapes themselves. */
interface ScrapeFacts {
  readonly series: number;
  readonly foldedOperations: number;
  /** Duration of the last scrape. */
  readonly seconds: number;
  /** Size of the last scrape before compression. */
  readonly bytes: number;
}

/** Registers the gauges that are read at each scrape and those that are fixed at startup. */
function createGauges(registry: Registry, options: MetricsOptions, scrape: () => ScrapeFacts) {
  let sources: MetricSources = {};
  let series = 0;
  const config = (entry: MetricEntry) => ({
    name: entry.name,
    help: entry.help,
    labelNames: [...entry.labels],
    registers: [registry],
  });
  const read = (entry: MetricEntry, value: () => number | boolean | undefined) => {
    series += 1;
    const gauge: Gauge = new Gauge({
      ...config(entry),
      collect: () => {
        gauge.set(Number(value() ?? 0));
      },
    });
  };
  const fixed = (
    entry: MetricEntry,
    sets: readonly (readonly [labels: Record<string, string>, value: boolean | number])[],
  ) => {
    series += sets.length;
    const gauge = new Gauge(config(entry));
    for (const [labels, value] of sets) gauge.set(labels, Number(value));
  };

  read(METRICS.cacheEntries, () => sources.cacheEntries?.());
  read(METRICS.cacheBytes, () => sources.cacheBytes?.());
  read(METRICS.inFlight, () => sources.upstreamInFlight?.());
  read(METRICS.queued, () => sources.upstreamQueued?.());
  read(METRICS.streams, () => sources.upstreamStreams?.());
  read(METRICS.circuit, () => sources.upstreamCircuitOpen?.());
  read(METRICS.ledgerEntries, () => sources.ledgerEntries?.());
  read(METRICS.ready, () => sources.ready?.());
  read(METRICS.series, () => scrape().series);
  read(METRICS.folded, () => scrape().foldedOperations);
  read(METRICS.scrapeSeconds, () => scrape().seconds);
  read(METRICS.scrapeBytes, () => scrape().bytes);
  const readCount = (entry: MetricEntry, value: () => number | undefined) => {
    series += 1;
    const counter: Counter = new Counter({
      ...config(entry),
      collect: () => {
        counter.reset();
        counter.inc(value() ?? 0);
      },
    });
  };
  readCount(METRICS.limitsExceeded, () => sources.limitsExceeded?.());
  readCount(METRICS.ledgerDropped, () => sources.ledgerDropped?.());
  readCount(METRICS.candidateDropped, () => sources.candidateDropped?.());

  const { checks } = options;
  fixed(
    METRICS.mode,
    MODE_NAMES.map((mode) => [{ mode }, mode === options.mode]),
  );
  fixed(
    METRICS.enforcement,
    CHECK_NAMES.flatMap((check) => LEVELS.map((level) => [{ check, level }, checks[check] === level] as const)),
  );
  fixed(METRICS.enforced, [[{}, CHECK_NAMES.filter((check) => checks[check] === 'enforce').length]]);
  const { version, contractVersion: contract, release } = options;
  fixed(METRICS.build, [[{ version, contract, node: process.version, release }, 1]]);
  return {
    watch: (more: MetricSources): void => {
      sources = { ...sources, ...more };
    },
    checksFor: (operation: string): Checks => sources.operationChecks?.(operation) ?? checks,
    demoted: (): readonly string[] => sources.demoted?.() ?? [],
    series,
  };
}
