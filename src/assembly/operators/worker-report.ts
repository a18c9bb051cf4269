import type { Readiness } from '../../http/admin-app.ts';
import type { CountsIncrease } from '../../telemetry/metrics.ts';
import type { SharedPageCounts } from '../../telemetry/redis-metrics.ts';
import type { NumericSources } from '../../telemetry/scrape-metrics.ts';
import type { UpstreamStats } from '../../upstream/upstream-stats.ts';
import type { GateHistory } from '../../upstream/upstream-gate.ts';
import type { UpstreamHealth } from '../../upstream/upstream-health.ts';

/** The state of a worker's connection to Redis. */
export interface RedisReport {
  readonly available: boolean;
  readonly unsyncedSeconds: number;
  readonly sharedPages: SharedPageCounts;
}

/** A worker's report to the primary process, sent about once a second and before every scrape. */
export interface WorkerReport {
  /** How much the counters have increased since the previous report. */
  readonly increase: readonly CountsIncrease[];
  readonly sources: NumericSources;
  /** The state of the connection to Redis. Undefined if Redis is not configured. */
  readonly redis: RedisReport | undefined;
  readonly upstream: UpstreamStats;
  readonly health: UpstreamHealth;
  readonly history: GateHistory;
  readonly readiness: Readiness;
}

/**
 * Returns whether a value is a valid report. A worker with corrupted memory can send any value, but must not be able to
 * crash the primary process or corrupt its counters.
 */
export function isReport(value: unknown, upstream: UpstreamStats): value is WorkerReport {
  if (!hasShapeOf({ ...SAMPLE, upstream }, value)) return false;
  const { increase, sources } = value as WorkerReport;
  return (
    Object.values(sources).every(Number.isFinite) &&
    increase.every(({ counts, sums }) => areCounts(counts) && (sums === undefined || areCounts(sums)))
  );
}

/** The properties that every report has. */
const SAMPLE = {
  increase: [{ family: 0, names: [''], counts: {} }],
  sources: {},
  health: { status: '', reasons: [''], addresses: [{ address: '', state: '', inFlight: 0 }] },
  history: { changes: [{ at: 0 }] },
  readiness: { ready: true, reasons: [''] },
};

const areCounts = (value: unknown) =>
  value instanceof Float64Array && value.every((count) => count >= 0 && Number.isFinite(count));

/** Returns whether a value has all of a sample's properties, with the same types. List items are also checked. */
function hasShapeOf(sample: unknown, value: unknown): boolean {
  if (typeof sample !== typeof value) return false;
  if (typeof sample === 'number') return Number.isFinite(value);
  if (typeof sample !== 'object' || sample === null) return true;
  if (value === null || Array.isArray(sample) !== Array.isArray(value)) return false;
  if (Array.isArray(sample))
    return sample.length === 0 || (value as unknown[]).every((one) => hasShapeOf(sample[0], one));
  return Object.entries(sample).every(([key, own]) => hasShapeOf(own, (value as Record<string, unknown>)[key]));
}
