import { CHECK_NAMES, type CheckName, type Checks } from '../../engine/model/checks.ts';
import { LADDER_METRICS } from '../../engine/telemetry/metric-list.ts';
import { createStoredCounter } from '../../engine/telemetry/stored-counter.ts';
import { createReadMetric, type MetricRow, type StoredMetric } from '../../engine/telemetry/stored-metric.ts';

/** Counts the level changes made by the ladder. */
export interface LadderCounters {
  demoted(operation: string): void;
  promoted(check: CheckName): void;
  alerted(check: CheckName): void;
}

/** The metrics of the ladder and the overrides. */
interface LadderMetrics extends LadderCounters {
  /** Replaces the operations. Those beyond the maximum number of series are omitted. */
  relabel(operations: readonly string[]): void;
  readonly all: readonly StoredMetric[];
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

const SERIES_OF_ALL = PROMOTED.length + ALERTED.length;
/** The number of series of each operation: its levels, its demotions, whether it is demoted, and its overrides. */
const SERIES_OF_EACH = LEVELED.length + 1 + 1 + OVERRIDES.length;

/**
 * Creates gauges for the current levels, which are read on each scrape, and counters for level changes. They have no
 * operations until `relabel` is called. Operations that no longer exist have no level.
 */
export function createLadderMetrics(
  { checksFor, demoted, overrides }: LadderSources,
  maxSeries: number,
): LadderMetrics {
  const promotions = createStoredCounter(LADDER_METRICS.ladderPromotions, [PROMOTED]);
  const alerts = createStoredCounter(LADDER_METRICS.refusalAlerts, [ALERTED]);
  const demotions = createStoredCounter(LADDER_METRICS.ladderDemotions, [[]]);
  let leveled: (readonly [operation: string, check: (typeof LEVELED)[number]])[] = [];
  let shown: (readonly [operation: string])[] = [];
  let overridable: (readonly [operation: string, kind: (typeof OVERRIDES)[number]])[] = [];
  const levels = () =>
    leveled.flatMap((labels): MetricRow[] => {
      const [operation, check] = labels;
      const checks = checksFor(operation);
      return checks === undefined ? [] : [[labels, VALUES[checks[check]]]];
    });
  const demotedNow = () => {
    const now = new Set(demoted());
    return shown.map((labels): MetricRow => [labels, Number(now.has(labels[0]))]);
  };
  const overridden = () => {
    const active = overrides();
    return overridable.map((labels): MetricRow => {
      const [operation, kind] = labels;
      return [labels, active.filter((one) => one.operation === operation && one.kind === kind).length];
    });
  };
  return {
    demoted: (operation) => demotions.inc(operation),
    promoted: (check) => promotions.inc(check),
    alerted: (check) => alerts.inc(check),
    relabel(operations) {
      const room = Math.max(0, Math.floor((maxSeries - SERIES_OF_ALL) / SERIES_OF_EACH));
      const own = operations.slice(0, room);
      shown = own.map((operation) => [operation]);
      leveled = own.flatMap((operation) => LEVELED.map((check) => [operation, check] as const));
      overridable = own.flatMap((operation) => OVERRIDES.map((kind) => [operation, kind] as const));
      demotions.relabel([own]);
    },
    all: [
      createReadMetric(LADDER_METRICS.operationEnforcement, levels),
      demotions,
      createReadMetric(LADDER_METRICS.ladderDemoted, demotedNow),
      createReadMetric(LADDER_METRICS.overrides, overridden),
      promotions,
      alerts,
    ],
  };
}
