import { CHECK_NAMES, type CheckName, type Checks } from '../model/checks.ts';
import { type CounterFamily, createCounterFamily, headText, labelText } from './metric-families.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';

/** Counts the changes that the ladder makes. */
export interface LadderCounters {
  demoted(operation: string): void;
  promoted(check: CheckName): void;
  alerted(check: CheckName): void;
}

/** The ladder's metrics and the number of their series. */
interface LadderMetrics extends LadderCounters {
  readonly series: number;
  /** Returns these metrics in the exposition format. */
  text(): string;
  /** The counters. If the set of operations changes, the new counters continue from the old counts. */
  readonly counters: readonly CounterFamily[];
}

/** The sources of the values that are read at each scrape. */
export interface LadderSources {
  readonly checksFor: (operation: string) => Checks | undefined;
  readonly demoted: () => readonly string[];
  readonly overrides: () => readonly { readonly operation: string; readonly kind: (typeof OVERRIDES)[number] }[];
}

const VALUES = { off: 0, report: 1, enforce: 2 } as const;
// Undocumented paths share one level. Authentication is never promoted automatically: only an operator can change its
// level.
const LEVELED = CHECK_NAMES.filter((check) => check !== 'undocumented');
const PROMOTED = LEVELED.filter((check) => check !== 'authentication');
const OVERRIDES = ['level', 'force-stale', 'disable'] as const;
const ALERTED = CHECK_NAMES.filter((check) => check !== 'responses');

/**
 * Creates gauges for the current levels, which are read at each scrape, and counters for level changes. Operations
 * beyond `maxSeries` are omitted. The counters continue from the counts in `earlier`. Operations that no longer exist
 * have no level.
 */
export function createLadderMetrics(
  operations: readonly string[],
  sources: LadderSources,
  maxSeries: number,
  earlier?: LadderMetrics,
): LadderMetrics {
  const promotions = createCounterFamily(METRICS.ladderPromotions, [PROMOTED]);
  const alerts = createCounterFamily(METRICS.refusalAlerts, [ALERTED]);
  const each = seriesOf(createOperationMetrics(['any'], sources).all);
  const room = maxSeries - seriesOf([promotions, alerts]);
  const shown = operations.slice(0, Math.max(0, Math.floor(room / each)));
  const { demotions, all: ofOperations } = createOperationMetrics(shown, sources);
  const counters = [promotions, alerts, demotions];
  earlier?.counters.forEach((counter, index) => counters[index]?.add(counter));
  const all = [...ofOperations, promotions, alerts];
  return {
    demoted: (operation) => demotions.inc(operation),
    promoted: (check) => promotions.inc(check),
    alerted: (check) => alerts.inc(check),
    counters,
    series: seriesOf(all),
    text: () => all.map((metric) => metric.text()).join(''),
  };
}

/** A metric and the number of its series. */
type LadderMetric = Pick<CounterFamily, 'series' | 'text'>;

const seriesOf = (metrics: readonly LadderMetric[]) => metrics.reduce((sum, { series }) => sum + series, 0);

/** Creates the metrics that have the same number of series for each operation. */
function createOperationMetrics(operations: readonly string[], { checksFor, demoted, overrides }: LadderSources) {
  const demotions = createCounterFamily(METRICS.ladderDemotions, [operations]);
  const levels = createGauge(METRICS.operationEnforcement, operations, LEVELED, () => (operation, check) => {
    const checks = checksFor(operation);
    return checks && VALUES[checks[check]];
  });
  const demotedNow = createGauge(METRICS.ladderDemoted, operations, [undefined], () => {
    const now = new Set(demoted());
    return (operation) => Number(now.has(operation));
  });
  const overridden = createGauge(METRICS.overrides, operations, OVERRIDES, () => {
    const active = overrides();
    return (operation, kind) => active.filter((one) => one.operation === operation && one.kind === kind).length;
  });
  return { demotions, all: [levels, demotions, demotedNow, overridden] };
}

/**
 * Creates a gauge with one series for each operation and each value of a second label, or only for each operation if
 * the value is undefined. `read` is called at each scrape. It returns a function that returns the value of a series, or
 * undefined to omit the series.
 */
function createGauge<Value extends string | undefined>(
  entry: MetricEntry,
  operations: readonly string[],
  values: readonly Value[],
  read: () => (operation: string, value: Value) => number | undefined,
): LadderMetric {
  const series = operations.flatMap((operation) =>
    values.map((value) => {
      const labels = value === undefined ? [operation] : [operation, value];
      return { operation, value, name: `${entry.name}${labelText(entry.labels, labels)} ` };
    }),
  );
  return {
    series: series.length,
    text() {
      const valueOf = read();
      const lines = series.map(({ operation, value, name }) => {
        const now = valueOf(operation, value);
        return now === undefined ? '' : `${name}${now}\n`;
      });
      return headText(entry) + lines.join('');
    },
  };
}
