import { Counter, Gauge, type Registry } from 'prom-client';
import { CHECK_NAMES, type Checks, MODE_NAMES } from '../model/checks.ts';
import { METRICS, type MetricEntry } from './metric-list.ts';
import type { MetricsOptions } from './metrics-options.ts';

/** The sources of the values that are read at each scrape. */
export interface MetricSources {
  readonly upstreamInFlight?: () => number;
  readonly upstreamQueued?: () => number;
  readonly upstreamStreams?: () => number;
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

/** Facts about the scrapes themselves. */
interface ScrapeFacts {
  readonly series: number;
  readonly foldedOperations: number;
  /** Duration of the last scrape. */
  readonly seconds: number;
  /** Size of the last scrape before compression. */
  readonly bytes: number;
}

/** Registers the gauges that are read at each scrape and those that are fixed at startup. */
export function createGauges(registry: Registry, options: MetricsOptions, scrape: () => ScrapeFacts) {
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
  fixed(METRICS.build, [[{ version: options.version, contract: options.contractVersion, node: process.version }, 1]]);
  return {
    watch: (more: MetricSources): void => {
      sources = { ...sources, ...more };
    },
    checksFor: (operation: string): Checks => sources.operationChecks?.(operation) ?? checks,
    demoted: (): readonly string[] => sources.demoted?.() ?? [],
    series,
  };
}
