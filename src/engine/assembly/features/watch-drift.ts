import type { Logger } from 'pino';
import type { LedgerEntry, LedgerReader } from '../../model/ledger-entry.ts';
import { RELEASE_DRIFT } from '../../model/violation.ts';
import { withLatestDrift } from '../../../workbench/report/release-drift.ts';
import type { Acceptance } from '../../model/acceptance.ts';
import type { MetricRow } from '../../telemetry/stored-metric.ts';

/** The dependencies of the comparison of releases. */
interface DriftWatchParts {
  readonly ledger: LedgerReader;
  /** Returns the label of the current release. */
  readonly release: () => string;
  readonly accepts: () => Acceptance['accepts'];
  readonly logger: Logger;
}

/** Compares the current release with the one before it while the gateway is running. */
export interface DriftWatch {
  /**
   * Returns the series of `portico_release_drift`: the differences found by the last comparison that are not accepted.
   */
  readonly series: () => readonly MetricRow[];
  /** Compares the releases now. */
  compare(): Promise<void>;
  /** Starts comparing at intervals. Returns a function that stops it. */
  start(): () => void;
}

const COMPARE_MS = 60_000;
/** The maximum number of differences that are shown in metrics and logged, so that one release cannot flood them. */
const MAX_SHOWN = 50;
const MAX_LOGGED = 1_000;

/** The series that exists while there is no difference, so that the metric never disappears. */
const NO_DRIFT: MetricRow = [['none', 'none', 'none'], 0];

/** Creates the comparison. A difference is logged once per process. */
export function createDriftWatch({ ledger, release, accepts, logger }: DriftWatchParts): DriftWatch {
  let found: readonly LedgerEntry[] = [];
  const logged = new Set<string>();
  const compare = async () => {
    const snapshot = await ledger.snapshot();
    const isAccepted = accepts();
    found = withLatestDrift(snapshot, release())
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
    compare,
    start: () => {
      const timer = setInterval(() => void compareSafely(), COMPARE_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
