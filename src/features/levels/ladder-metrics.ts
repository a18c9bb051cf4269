import { CHECK_NAMES, type CheckName, type Checks } from '../../engine/model/checks.ts';
import {
  type CounterFamily,
  createCounterFamily,
  createGaugeFamily,
  seriesOf,
} from '../../engine/telemetry/metric-families.ts';
import { METRICS } from '../../engine/telemetry/metric-list.ts';

/** Counts the level changes made by the ladder. */
export interface LadderCounters {
  demoted(operation: string): void;
  promoted(check: CheckName): void;
  alerted(check: CheckName): void;
}

/** The ladder's metrics and the number of their series. */
interface LadderMetrics extends LadderCounters {
  readonly series: number;
  /** Returns the ladder's metrics in the exposition format. */
  text(): string;
  /** The counters. If the set of operations changes, new counters continue from the old counts. */
  readonly counters: readonly CounterFamily[];
}

/** The sources of the values that are read on each scrape. */
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
 * Creates gauges for the current levels, which are read on each scrape, and counters for level changes. Operations
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

/** Creates the metrics whose number of series is the same for every operation. */
function createOperationMetrics(operations: readonly string[], { checksFor, demoted, overrides }: LadderSources) {
  const demotions = createCounterFamily(METRICS.ladderDemotions, [operations]);
  const levels = createGaugeFamily(METRICS.operationEnforcement, [operations, LEVELED], () => (operation, check) => {
    const checks = checksFor(operation);
    return checks && VALUES[checks[check]];
  });
  const demotedNow = createGaugeFamily(METRICS.ladderDemoted, [operations], () => {
    const now = new Set(demoted());
    return (operation) => Number(now.has(operation));
  });
  const overridden = createGaugeFamily(METRICS.overrides, [operations, OVERRIDES], () => {
    const active = overrides();
    return (operation, kind) => active.filter((one) => one.operation === operation && one.kind === kind).length;
  });
  return { demotions, all: [levels, demotions, demotedNow, overridden] };
}
