import { CHECK_NAMES, type CheckName, type Checks } from '../model/checks.ts';
import { type CounterFamily, createCounterFamily, headText, labelText } from './metric-families.ts';
import { METRICS } from './metric-list.ts';

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
 * beyond `maxSeries` are left out. The counters continue from the counts in `earlier`. Operations that no longer
 * exist have no level.
 */
export function createLadderMetrics(
  operations: readonly string[],
  { checksFor, demoted, overrides }: LadderSources,
  maxSeries: number,
  earlier?: LadderMetrics,
): LadderMetrics {
  const promotions = createCounterFamily(METRICS.ladderPromotions, [PROMOTED]);
  const alerts = createCounterFamily(METRICS.refusalAlerts, [ALERTED]);
  const room = maxSeries - promotions.series - alerts.series;
  const shown = operations.slice(0, Math.max(0, Math.floor(room / (LEVELED.length + OVERRIDES.length + 2))));
  const demotions = createCounterFamily(METRICS.ladderDemotions, [shown]);
  const counters = [promotions, alerts, demotions];
  earlier?.counters.forEach((counter, index) => counters[index]?.add(counter));
  const { labels } = METRICS.operationEnforcement;
  const levels = shown.flatMap((operation) =>
    LEVELED.map((check) => {
      const name = `${METRICS.operationEnforcement.name}${labelText(labels, [operation, check])} `;
      return () => {
        const checks = checksFor(operation);
        return checks === undefined ? '' : `${name}${VALUES[checks[check]]}\n`;
      };
    }),
  );
  const head = headText(METRICS.operationEnforcement);
  const demotedGauges = shown.map((operation) => ({
    operation,
    name: `${METRICS.ladderDemoted.name}${labelText(METRICS.ladderDemoted.labels, [operation])} `,
  }));
  const demotedText = () => {
    const now = new Set(demoted());
    const lines = demotedGauges.map(({ operation, name }) => `${name}${now.has(operation) ? 1 : 0}\n`);
    return headText(METRICS.ladderDemoted) + lines.join('');
  };
  const overrideGauges = shown.flatMap((operation) =>
    OVERRIDES.map((kind) => {
      const name = `${METRICS.overrides.name}${labelText(METRICS.overrides.labels, [operation, kind])} `;
      return { operation, kind, name };
    }),
  );
  const overridesText = () => {
    const active = overrides();
    const lines = overrideGauges.map(({ operation, kind, name }) => {
      const count = active.filter((one) => one.operation === operation && one.kind === kind).length;
      return `${name}${count}\n`;
    });
    return headText(METRICS.overrides) + lines.join('');
  };
  return {
    demoted: (operation) => demotions.inc(operation),
    promoted: (check) => promotions.inc(check),
    alerted: (check) => alerts.inc(check),
    counters,
    series: [levels, demotedGauges, overrideGauges].reduce(
      (sum, { length }) => sum + length,
      demotions.series + promotions.series + alerts.series,
    ),
    text: () =>
      [
        head,
        ...levels.map((line) => line()),
        demotions.text(),
        demotedText(),
        promotions.text(),
        alerts.text(),
        overridesText(),
      ].join(''),
  };
}
