import { type CheckName, REQUEST_CHECKS } from '../../engine/model/checks.ts';
import type { FeatureMetrics } from '../../engine/telemetry/metric-registry.ts';
import type { MetricEntry } from '../../engine/telemetry/metric-list.ts';
import { OVERRIDE_KINDS, type OverrideEntry, PROMOTABLE_CHECKS } from './level-entry.ts';

const DEMOTIONS = {
  name: 'portico_ladder_demotions_total',
  type: 'counter',
  labels: ['operation'],
  help: 'Demotions of responses from enforce to report because the check refused too many responses.',
} as const;

const DEMOTED = {
  name: 'portico_ladder_demoted',
  type: 'gauge',
  labels: ['operation'],
  help: '1 while the responses check of the operation is demoted, otherwise 0.',
} as const;

const PROMOTIONS = {
  name: 'portico_ladder_promotions_total',
  type: 'counter',
  labels: ['check'],
  help: 'Automatic promotions of a check from report to enforce.',
} as const;

const OVERRIDES = {
  name: 'portico_overrides_active',
  type: 'gauge',
  labels: ['operation', 'kind'],
  help: 'Number of active overrides of an operation, by kind: level, force-stale or disable.',
} as const;

const ALERTS = {
  name: 'portico_refusal_alerts_total',
  type: 'counter',
  labels: ['check'],
  help: 'Time windows in which a check refused an unusually large share of requests. The check stays enforced.',
} as const;

/** The metrics about levels that differ from the configuration. */
export const LEVELS_METRICS: readonly MetricEntry[] = [DEMOTIONS, DEMOTED, PROMOTIONS, OVERRIDES, ALERTS];

/** Counts changes of levels. */
export interface LevelsMetrics {
  demoted(operation: string): void;
  promoted(check: CheckName): void;
  alerted(check: CheckName): void;
}

/** The number of operations that have metrics of their own here, so that a large contract cannot cause too many series. */
const MAX_OPERATIONS = 200;

/** Registers the metrics. `demoted` and `overrides` are read on each scrape. */
export function registerMetrics(
  metrics: FeatureMetrics,
  all: readonly string[],
  sources: { readonly demoted: () => readonly string[]; readonly overrides: () => readonly OverrideEntry[] },
): LevelsMetrics {
  const operations = all.slice(0, MAX_OPERATIONS);
  const demotions = metrics.counter(DEMOTIONS, [operations]);
  const promotions = metrics.counter(PROMOTIONS, [PROMOTABLE_CHECKS]);
  const alerts = metrics.counter(ALERTS, [REQUEST_CHECKS]);
  metrics.read(DEMOTED, () => {
    const now = new Set(sources.demoted());
    return operations.map((operation) => [[operation], Number(now.has(operation))] as const);
  });
  metrics.read(OVERRIDES, () => {
    const active = sources.overrides();
    return operations.flatMap((operation) =>
      OVERRIDE_KINDS.map((kind) => {
        const count = active.filter((one) => one.operation === operation && one.kind === kind).length;
        return [[operation, kind], count] as const;
      }),
    );
  });
  return {
    demoted: (operation) => demotions(operation),
    promoted: (check) => promotions(check),
    alerted: (check) => alerts(check),
  };
}
