import type { FeatureContext } from '../../engine/feature.ts';
import type { LedgerEntry } from '../../engine/model/ledger-entry.ts';
import { withLatestDrift } from '../../engine/model/release-drift.ts';
import { RELEASE_DRIFT } from '../../engine/model/violation.ts';
import type { MetricRow } from '../../engine/telemetry/stored-metric.ts';

/** Compares the current release with the one before it while the gateway is running. */
export interface DriftWatch {
  /** Returns the series of the metric: the differences found by the last comparison that are not accepted. */
  readonly series: () => readonly MetricRow[];
  /** Compares the release with this label with the one before it, now and then at intervals. */
  follow(release: string): void;
  /** Ends the comparisons. */
  close(): Promise<void>;
}

const COMPARE_MS = 60_000;
/** The maximum number of differences that are shown in metrics and logged, so that one release cannot flood them. */
const MAX_SHOWN = 50;
const MAX_LOGGED = 1_000;

/** The series that exists while there is no difference, so that the metric never disappears. */
const NO_DRIFT: MetricRow = [['none', 'none', 'none'], 0];

/** Creates the comparison. A difference is logged once per process. */
export function createDriftWatch({
  records,
  isAccepted,
  logger,
}: Pick<FeatureContext<unknown>, 'records' | 'isAccepted' | 'logger'>): DriftWatch {
  let found: readonly LedgerEntry[] = [];
  let release = '';
  let timer: NodeJS.Timeout | undefined;
  const logged = new Set<string>();
  const compare = async () => {
    const snapshot = await records.snapshot();
    found = withLatestDrift(snapshot, release)
      .entries.filter((entry) => entry.category === RELEASE_DRIFT && !isAccepted(entry))
      .slice(0, MAX_SHOWN);
    for (const { fingerprint, operation, keyword, message } of found) {
      if (logged.has(fingerprint) || logged.size >= MAX_LOGGED) continue;
      logged.add(fingerprint);
      logger.warn({ drift: { operation, keyword, fingerprint } }, `the release changed responses: ${message}`);
    }
  };
  const compareSafely = () =>
    compare().catch((error: unknown) => logger.warn({ err: error }, 'the releases could not be compared'));
  return {
    series: () => [
      NO_DRIFT,
      ...found.map(({ operation = '', keyword, fingerprint }): MetricRow => [[operation, keyword, fingerprint], 1]),
    ],
    follow(next) {
      release = next;
      timer ??= setInterval(() => void compareSafely(), COMPARE_MS).unref();
      void compareSafely();
    },
    close() {
      clearInterval(timer);
      return Promise.resolve();
    },
  };
}
