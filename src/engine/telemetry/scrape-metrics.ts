import { Counter, Gauge, type Registry } from 'prom-client';
import { CHECK_NAMES, type Checks } from '../model/checks.ts';
import { MODE_NAMES } from '../model/modes.ts';
import type { LadderSources } from '../../features/levels/ladder-metrics.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';
import type { MetricsOptions } from './request-metrics.ts';

/** An address of the upstream. */
interface AddressSource {
  readonly address: string;
  readonly state: 'healthy' | 'ejected';
  readonly probe: 'passed' | 'failed' | undefined;
  /** The number of requests by outcome. */
  readonly requests: { readonly succeeded: number; readonly failed: number };
}

/** A difference between two releases of the upstream. */
interface DriftSource {
  readonly operation: string | undefined;
  readonly keyword: string;
  readonly fingerprint: string;
}

/** The labels of the series that exists while there is no difference, so that the metric never disappears. */
const NO_DRIFT = { operation: 'none', drift: 'none', fingerprint: 'none' };

/** The sources of the values that are read on each scrape. */
export interface MetricSources {
  readonly upstreamInFlight?: () => number;
  readonly upstreamQueued?: () => number;
  readonly upstreamStreams?: () => number;
  readonly upstreamRetries?: () => Readonly<Record<(typeof RETRY_OUTCOMES)[number], number>>;
  readonly limitsExceeded?: () => number;
  readonly upstreamHealthy?: () => boolean;
  /** Returns the addresses of the upstream. They come from the configuration, so their number is limited. */
  readonly upstreamAddresses?: () => readonly AddressSource[];
  readonly upstreamCircuitOpen?: () => boolean;
  readonly cacheEntries?: () => number;
  readonly cacheBytes?: () => number;
  /** Returns the differences between the current release and the one before it. Their number is limited. */
  readonly releaseDrift?: () => readonly DriftSource[];
  readonly ready?: () => boolean;
  /** Returns the expiry time of the TLS certificate presented to clients, in epoch seconds. */
  readonly certificateNotAfter?: () => number;
  readonly certificateOutdated?: () => boolean;
  readonly failedHandshakes?: () => number;
  /** Returns the current levels of an operation. */
  readonly operationChecks?: (operation: string) => Checks | undefined;
  /** Returns the operations whose `responses` check is demoted to `report`. */
  readonly demoted?: () => readonly string[];
  /** Returns the active overrides. */
  readonly overrides?: LadderSources['overrides'];
}

const RETRY_OUTCOMES = ['succeeded', 'failed', 'refused'] as const;
const LEVELS = ['off', 'report', 'enforce'] as const;

type LabeledValue = readonly [labels: Record<string, string>, value: boolean | number];

/** Functions that return the current options and facts about the scrapes themselves. */
interface ScrapeFacts {
  readonly options: () => MetricsOptions;
  readonly series: () => number;
  readonly foldedOperations: () => number;
  /** Returns the duration of the last scrape, and its size before compression. */
  readonly last: () => { readonly seconds: number; readonly bytes: number };
}

/** Registers the metrics that are read on each scrape. `watch` connects the metrics to their sources. */
export function createScrapeMetrics(registry: Registry, scrape: ScrapeFacts) {
  let sources: MetricSources = {};
  let single = 0;
  /** The functions that return the rows of each labeled metric. */
  const labeled: (() => readonly LabeledValue[])[] = [];
  const register = (entry: MetricEntry, rows: () => readonly LabeledValue[]) => {
    const config = { name: entry.name, help: entry.help, labelNames: [...entry.labels], registers: [registry] };
    const collect = () => {
      metric.reset();
      // The metric has just been reset to 0, so incrementing it by a value sets it to that value.
      for (const [labels, value] of rows()) metric.inc(labels, Number(value));
    };
    const metric: Counter | Gauge = new (entry.type === 'counter' ? Counter : Gauge)({ ...config, collect });
  };
  const read = (entry: MetricEntry, value: () => number | boolean | undefined) => {
    single += 1;
    register(entry, () => [[{}, value() ?? 0]]);
  };
  const readRows = (entry: MetricEntry, rows: () => readonly LabeledValue[]) => {
    labeled.push(rows);
    register(entry, rows);
  };

  read(METRICS.cacheEntries, () => sources.cacheEntries?.());
  read(METRICS.cacheBytes, () => sources.cacheBytes?.());
  read(METRICS.inFlight, () => sources.upstreamInFlight?.());
  read(METRICS.queued, () => sources.upstreamQueued?.());
  read(METRICS.streams, () => sources.upstreamStreams?.());
  read(METRICS.upstreamHealthy, () => sources.upstreamHealthy?.());
  read(METRICS.circuit, () => sources.upstreamCircuitOpen?.());
  read(METRICS.ready, () => sources.ready?.());
  read(METRICS.certificateNotAfter, () => sources.certificateNotAfter?.());
  read(METRICS.certificateOutdated, () => sources.certificateOutdated?.());
  read(METRICS.series, scrape.series);
  read(METRICS.folded, scrape.foldedOperations);
  read(METRICS.scrapeSeconds, () => scrape.last().seconds);
  read(METRICS.scrapeBytes, () => scrape.last().bytes);
  const addresses = () => sources.upstreamAddresses?.() ?? [];
  readRows(METRICS.addressHealthy, () =>
    addresses().map(({ address, state, probe }) => [{ address }, state === 'healthy' && probe !== 'failed'] as const),
  );
  readRows(METRICS.addressRequests, () =>
    addresses().flatMap(({ address, requests }) =>
      Object.entries(requests).map(([outcome, count]) => [{ address, outcome }, count] as const),
    ),
  );
  readRows(METRICS.upstreamRetries, () =>
    RETRY_OUTCOMES.map((outcome) => [{ outcome }, sources.upstreamRetries?.()[outcome] ?? 0] as const),
  );
  read(METRICS.limitsExceeded, () => sources.limitsExceeded?.());
  read(METRICS.failedHandshakes, () => sources.failedHandshakes?.());
  readRows(METRICS.releaseDrift, () => [
    [NO_DRIFT, 0],
    ...(sources.releaseDrift?.() ?? []).map(
      ({ operation = '', keyword: drift, fingerprint }) => [{ operation, drift, fingerprint }, 1] as const,
    ),
  ]);

  readRows(METRICS.mode, () => MODE_NAMES.map((mode) => [{ mode }, mode === scrape.options().mode] as const));
  readRows(METRICS.enforcement, () => {
    const { checks } = scrape.options();
    return CHECK_NAMES.flatMap((check) => LEVELS.map((level) => [{ check, level }, checks[check] === level] as const));
  });
  read(METRICS.enforced, () => {
    const { checks } = scrape.options();
    return CHECK_NAMES.filter((check) => checks[check] === 'enforce').length;
  });
  readRows(METRICS.build, () => {
    const { version, contractVersion: contract, release } = scrape.options();
    return [[{ version, contract, node: process.version, release }, 1]];
  });
  readRows(METRICS.configuration, () => [[{ hash: scrape.options().configurationHash?.() ?? '' }, 1]]);
  read(METRICS.lastReload, () => (scrape.options().loadedAt ?? 0) / 1000);
  return {
    watch: (more: MetricSources): void => {
      sources = { ...sources, ...more };
    },
    checksFor: (operation: string): Checks | undefined =>
      sources.operationChecks === undefined ? scrape.options().checks : sources.operationChecks(operation),
    demoted: (): readonly string[] => sources.demoted?.() ?? [],
    overrides: () => sources.overrides?.() ?? [],
    get series() {
      return labeled.reduce((sum, rows) => sum + rows().length, single);
    },
  };
}
