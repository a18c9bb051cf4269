import { isDeepStrictEqual } from 'node:util';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Trace } from '../model/trace.ts';
import { createLadderMetrics, type LadderCounters } from '../../features/levels/ladder-metrics.ts';
import { createFeatureMetrics, type FeatureMetrics } from './feature-metrics.ts';
import { createCounterFamily, seriesOf } from './metric-families.ts';
import { METRICS } from './metric-list.ts';
import type { RedisMetrics } from './redis-metrics.ts';
import { createRequestMetrics, type MetricsOptions } from './request-metrics.ts';
import { createScrapeMetrics, type MetricSources } from './scrape-metrics.ts';
import type { TrafficCounts } from '../../features/console/traffic-history.ts';

/** Portico's metrics. They count finished traces and produce the scrape output. */
export interface Metrics {
  /** Counts one finished request. */
  record(trace: Trace): void;
  /** Connects gauges to the sources that they read on each scrape. The value of a gauge without a source is 0. */
  watch(sources: MetricSources): void;
  /** Counters for the ladder's promotions, demotions and alerts. */
  readonly ladder: LadderCounters;
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

/** The scrape formats: Prometheus's text format, and OpenMetrics, which can contain exemplars. */
type MetricsFormat = 'text' | 'openMetrics';

/**
 * The maximum number of series. It is high enough for a contract with about 110 operations. A scrape with this many
 * series is about one megabyte in size.
 */
const MAX_SERIES = 10_000;
/** The ladder may use at most a fifth of the series. */
const LADDER_SHARE = 5;

/**
 * Creates Portico's metrics in a separate registry. Every series exists from startup. `redis` is undefined if no state
 * is shared.
 */
export function createMetrics(given: MetricsOptions, redis?: RedisMetrics): Metrics {
  const registry = new Registry();
  const features = createFeatureMetrics(registry);
  const reloads = createCounterFamily(METRICS.reloads, [['applied', 'refused']]);
  let options: MetricsOptions = { ...given, operations: given.operations.map(labelFacts) };
  let last = { seconds: 0, bytes: 0 };
  const gauges = createScrapeMetrics(registry, {
    options: () => options,
    series: () => series(),
    foldedOperations: () => foldedOperations,
    last: () => last,
  });
  const maxSeries = given.maxSeries ?? MAX_SERIES;
  const createLadder = (earlier?: ReturnType<typeof createLadderMetrics>) => {
    const ids = options.operations.map(({ id }) => id);
    const share = Math.floor(maxSeries / LADDER_SHARE);
    return createLadderMetrics(ids, gauges, share, earlier);
  };
  let ladder = createLadder();
  /** All metrics except the request metrics and those in the registry. */
  const others = () => [ladder, reloads, redis].filter((one) => one !== undefined);
  const fixed = () => gauges.series + features.series() + seriesOf(others());
  // The counters always read the latest options, so that reloads of the baseline are taken into account.
  const counted = () => ({ ...options, isAccepted: (...asked: Parameters<IsAccepted>) => isAccepted(options, asked) });
  let ownSeries = ownSeriesOf(counted(), maxSeries - fixed());
  let foldedOperations = options.operations.length - ownSeries;
  const counters = createRequestMetrics(counted(), ownSeries);
  const series = () => counters.series + fixed();
  return {
    record: counters.record,
    watch: (sources) => gauges.watch(sources),
    ladder: {
      demoted: (operation) => ladder.demoted(operation),
      promoted: (check) => ladder.promoted(check),
      alerted: (check) => ladder.alerted(check),
    },
    features,
    reloaded: (outcome) => reloads.inc(outcome),
    configure: (next) => {
      const before = seriesFacts(options);
      options = { ...next, ...withEarlierLabels(options, next) };
      if (isDeepStrictEqual(before, seriesFacts(options))) return;
      ladder = createLadder(ladder);
      ownSeries = ownSeriesOf(counted(), maxSeries - fixed());
      foldedOperations = options.operations.length - ownSeries;
      counters.relabel(counted(), ownSeries);
    },
    exposition: async (format = 'text') => {
      const startedAt = performance.now();
      const own = [counters.text(format === 'openMetrics'), ...others().map((one) => one.text())];
      const lines = [...own, await registry.metrics(), await processMetrics().metrics()].join('\n');
      const text = format === 'text' ? lines : toOpenMetrics(lines);
      last = { seconds: (performance.now() - startedAt) / 1000, bytes: Buffer.byteLength(text) };
      return text;
    },
    // The OpenMetrics format is needed only for exemplars.
    formatFor: (accept) => (options.exemplars === true && prefersOpenMetrics(accept) ? 'openMetrics' : 'text'),
    contentTypes: { text: registry.contentType, openMetrics: Registry.OPENMETRICS_CONTENT_TYPE },
    seriesCount: series,
    foldedOperations: () => foldedOperations,
    get traffic() {
      return counters.traffic;
    },
  };
}

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

/**
 * Converts a scrape to the OpenMetrics format. In HELP and TYPE lines, the `_total` suffix of counters is removed and
 * quotation marks are escaped. Empty lines are removed.
 */
function toOpenMetrics(text: string): string {
  const lines = text
    .replace(/^# HELP (\S+)_total (.*)\n# TYPE (\S+)_total counter$/gm, '# HELP $1 $2\n# TYPE $3 counter')
    .replace(/^# HELP .*$/gm, (line) => line.replaceAll('"', String.raw`\"`))
    .replace(/\n{2,}/g, '\n')
    .trim();
  return `${lines}\n# EOF\n`;
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

/** Returns how many operations can have their own series. All other operations are counted together. */
function ownSeriesOf(options: MetricsOptions, maxSeries: number): number {
  const total = options.operations.length;
  const all = createRequestMetrics(options).series;
  if (all <= maxSeries) return total;
  const shared = createRequestMetrics(options, 0).series;
  const each = (all - shared) / total;
  let own = Math.max(0, Math.min(total - 1, Math.floor((maxSeries - shared) / each)));
  while (own > 0 && createRequestMetrics(options, own).series > maxSeries) own -= 1;
  return own;
}

// The `type` labels of these Node metrics are the names of open resources, which are not a fixed set. The totals are
// gauges with counter-like names, so promtool rejects them, and rates computed from them would be wrong.
const EXCLUDED = ['handles', 'requests', 'resources'].flatMap((thing) => [
  `nodejs_active_${thing}`,
  `nodejs_active_${thing}_total`,
]);

let shared: Registry | undefined;

/**
 * Returns the process metrics: CPU, memory, event loop and garbage collector. They are created only once per process,
 * because the observers that they use cannot be removed.
 */
function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of EXCLUDED) shared.removeSingleMetric(name);
  }
  return shared;
}
