import { isDeepStrictEqual } from 'node:util';
import { CHECK_LEVELS, CHECK_NAMES, type Checks, OPERATION_CHECKS } from '../model/checks.ts';
import { MODE_NAMES } from '../model/modes.ts';
import type { Trace } from '../model/trace.ts';
import { LEVEL_METRICS, READ_METRICS } from './metric-list.ts';
import { CONTENT_TYPES, createMetricRegistry, type FeatureMetrics, type MetricsFormat } from './metric-registry.ts';
import type { RedisMetrics } from './redis-metrics.ts';
import { createRequestMetrics, type MetricsOptions } from './request-metrics.ts';
import { labelSets, type MetricRow, seriesOf } from './stored-metric.ts';
import type { TrafficCounts } from './traffic-counts.ts';

/** Portico's metrics. They count finished traces and produce the scrape output. */
export interface Metrics {
  /** Counts one finished request. */
  record(trace: Trace): void;
  /** Connects metrics to the sources that are read on each scrape. */
  watch(sources: MetricSources): void;
  /** The metrics of the features. */
  readonly features: FeatureMetrics;
  /** Counts a reload of the configuration. */
  reloaded(outcome: 'applied' | 'refused'): void;
  /**
   * Applies the options from a new configuration. Counters keep their counts. The series for operations and permissions
   * that no longer exist remain until the process ends.
   */
  configure(options: MetricsOptions): void;
  /** Returns the text for a scrape. The default is Prometheus's text format. */
  exposition(format?: MetricsFormat): Promise<string>;
  /** Returns the format to use for a client that sent this `Accept` header. */
  formatFor(accept: string | undefined): MetricsFormat;
  readonly contentTypes: Readonly<Record<MetricsFormat, string>>;
  /** Returns the number of Portico's own series. Each adds one line to a scrape. */
  seriesCount(): number;
  /** Returns the number of operations that have no separate series (see `maxSeries`). */
  foldedOperations(): number;
  /**
   * The counts behind the traffic history. `record` updates the arrays in place, and `configure` replaces this
   * object if it adds series.
   */
  readonly traffic: TrafficCounts;
}

/**
 * The sources of the metrics in `READ_METRICS`, by key. A number or boolean is the value of a metric without labels, and
 * an object contains a number for each value of a single label. Without a source, or if it returns undefined, all known
 * series are 0.
 */
type MetricSources = {
  readonly [Key in keyof typeof READ_METRICS]?: () => Reading | undefined;
} & {
  /** Returns the current levels of an operation. */
  readonly operationChecks?: (operation: string) => Checks | undefined;
};

type Reading = number | boolean | Readonly<Record<string, number>> | readonly MetricRow[];

/**
 * The maximum number of series. It is high enough for a contract with about 110 operations. A scrape with this many
 * series is about one megabyte in size.
 */
const MAX_SERIES = 10_000;
/** The levels of operations may use at most a tenth of the series. */
const LEVELS_SHARE = 10;

/**
 * Creates Portico's metrics in a separate registry. Every series exists from startup. `redis` is undefined if no state
 * is shared.
 */
export function createMetrics(given: MetricsOptions, redis?: RedisMetrics): Metrics {
  const registry = createMetricRegistry();
  const { maxSeries = MAX_SERIES } = given;
  let options: MetricsOptions = { ...given, operations: given.operations.map(labelFacts) };
  let last = { seconds: 0, bytes: 0 };
  let sources: MetricSources = {
    ...aboutOptions(() => options),
    series: registry.series,
    folded: () => counters.foldedOperations(),
    scrapeSeconds: () => last.seconds,
    scrapeBytes: () => last.bytes,
  };
  for (const [name, entry] of Object.entries(READ_METRICS)) {
    const sets = labelSets('values' in entry ? entry.values() : entry.labels.map(() => []));
    const zeros = sets.map((set): MetricRow => [set, 0]);
    registry.read(entry, () => rowsOf(sources[name as keyof typeof READ_METRICS]?.()) ?? zeros);
  }
  const levelLabels = () =>
    options.operations
      .slice(0, Math.floor(maxSeries / LEVELS_SHARE / OPERATION_CHECKS.length))
      .flatMap(({ id }) => OPERATION_CHECKS.map((check) => [id, check] as const));
  let leveled = levelLabels();
  registry.read(LEVEL_METRICS.operationEnforcement, () =>
    leveled.flatMap((labels): MetricRow[] => {
      const [operation, check] = labels;
      const checks = sources.operationChecks === undefined ? options.checks : sources.operationChecks(operation);
      return checks === undefined ? [] : [[labels, CHECK_LEVELS.indexOf(checks[check])]];
    }),
  );
  for (const metric of redis?.all ?? []) registry.add(metric);
  // The counters always read the latest options, so that reloads of the baseline are taken into account.
  const counted = () => ({ ...options, isAccepted: (...asked: Parameters<IsAccepted>) => isAccepted(options, asked) });
  /** The number of series of all other metrics. Those of features are registered later. */
  let others = registry.series();
  const counters = createRequestMetrics(counted(), maxSeries - others);
  for (const metric of counters.all) registry.add(metric);
  return {
    record: counters.record,
    watch(more) {
      sources = { ...sources, ...more };
    },
    features: registry,
    reloaded: counters.reloaded,
    configure: (next) => {
      const before = seriesFacts(options);
      options = { ...next, ...withEarlierLabels(options, next) };
      leveled = levelLabels();
      const now = registry.series() - seriesOf(counters.all);
      if (now === others && isDeepStrictEqual(before, seriesFacts(options))) return;
      others = now;
      counters.relabel(counted(), maxSeries - others);
    },
    exposition: async (format = 'text') => {
      const startedAt = performance.now();
      const text = await registry.exposition(format);
      last = { seconds: (performance.now() - startedAt) / 1000, bytes: Buffer.byteLength(text) };
      return text;
    },
    // The OpenMetrics format is needed only for exemplars.
    formatFor: (accept) => (options.exemplars === true && prefersOpenMetrics(accept) ? 'openMetrics' : 'text'),
    contentTypes: CONTENT_TYPES,
    seriesCount: registry.series,
    foldedOperations: counters.foldedOperations,
    get traffic() {
      return counters.traffic;
    },
  };
}

/** Returns the sources of the metrics that show the options. */
function aboutOptions(options: () => MetricsOptions): MetricSources {
  const enforced = () => CHECK_NAMES.filter((check) => options().checks[check] === 'enforce');
  return {
    mode: () => MODE_NAMES.map((mode) => [[mode], Number(mode === options().mode)]),
    enforcement: () =>
      CHECK_NAMES.flatMap((check) =>
        CHECK_LEVELS.map((level): MetricRow => [[check, level], Number(options().checks[check] === level)]),
      ),
    enforced: () => enforced().length,
    build: () => {
      const { version, contractVersion, release } = options();
      return [[[version, contractVersion, process.version, release], 1]];
    },
    configuration: () => [[[options().configurationHash?.() ?? ''], 1]],
    lastReload: () => (options().loadedAt ?? 0) / 1000,
  };
}

/** Returns the series that a source describes. */
function rowsOf(reading: Reading | undefined): readonly MetricRow[] | undefined {
  if (typeof reading === 'number' || typeof reading === 'boolean') return [[[], Number(reading)]];
  if (reading === undefined || isRows(reading)) return reading;
  return Object.entries(reading).map(([value, count]) => [[value], count]);
}

const isRows = (reading: Reading): reading is readonly MetricRow[] => Array.isArray(reading);

/**
 * Returns whether an `Accept` header prefers OpenMetrics to plain text. Parameters are ignored, because Portico's
 * output is valid in all versions of OpenMetrics.
 */
function prefersOpenMetrics(accept = ''): boolean {
  const qualityOf = (wanted: string) =>
    Math.max(
      0,
      ...accept.split(',').map((range) => {
        const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
        const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
        return type === wanted ? Number(quality ?? 1) || 0 : 0;
      }),
    );
  const openMetrics = qualityOf('application/openmetrics-text');
  return openMetrics > 0 && openMetrics >= qualityOf('text/plain');
}

type IsAccepted = NonNullable<MetricsOptions['isAccepted']>;

const isAccepted = (options: MetricsOptions, asked: Parameters<IsAccepted>) => options.isAccepted?.(...asked) ?? false;

/**
 * Returns the operations and permissions from both sets of options, with those from the earlier set first, so that no
 * series disappears.
 */
function withEarlierLabels(before: MetricsOptions, next: MetricsOptions) {
  const current = new Map(next.operations.map((operation) => [operation.id, labelFacts(operation)]));
  const known = new Set(before.operations.map(({ id }) => id));
  return {
    operations: [
      ...before.operations.map((operation) => current.get(operation.id) ?? operation),
      ...[...current.values()].filter(({ id }) => !known.has(id)),
    ],
    permissions: [...new Set([...before.permissions, ...next.permissions])],
  };
}

/** Returns the options that determine which series exist, and whether they have exemplars. */
const seriesFacts = ({ operations, permissions, exemplars }: MetricsOptions) => [operations, permissions, exemplars];

/** Returns only the properties of an operation that determine its series. */
const labelFacts = ({ id, paging, cacheability, privateFields }: MetricsOptions['operations'][number]) => ({
  id,
  paging,
  cacheability,
  // Which fields are private does not matter here.
  privateFields: privateFields && { names: [], requires: { all: [] } },
});
