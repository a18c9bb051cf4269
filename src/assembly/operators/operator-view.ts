import type { MetricObject } from 'prom-client';
import type { PageCache } from '../../cache/page-cache.ts';
import type { InventoryQuery, PageInventory } from '../../cache/page-inventory.ts';
import type { Readiness } from '../../http/admin-app.ts';
import type { Metrics, MetricsFormat } from '../../telemetry/metrics.ts';
import type { SharedPageCounts } from '../../telemetry/redis-metrics.ts';
import type { NumericSources } from '../../telemetry/scrape-metrics.ts';
import { countsOf, sumOfStats, type UpstreamStats } from '../../upstream/upstream-stats.ts';
import type { GateHistory } from '../../upstream/upstream-gate.ts';
import type { UpstreamHealth } from '../../upstream/upstream-health.ts';
import type { Upstreams } from '../features/upstreams.ts';
import type { PrimaryRole } from '../sharing/process-role.ts';
import type { SharedState } from '../sharing/shared-state.ts';
import { isReport, type WorkerReport } from './worker-report.ts';

/** The operator's view of the processes that serve requests: either this process alone or all workers combined. */
export interface OperatorView {
  upstream(): UpstreamStats;
  upstreamHealth(): UpstreamHealth;
  upstreamHistory(): GateHistory;
  inventory(query: InventoryQuery): PageInventory | Promise<PageInventory>;
  /** Returns the metrics as text, with counts from all processes. */
  exposition: (format?: MetricsFormat) => Promise<string>;
  /** Returns the workers' readiness. Undefined if this process serves requests itself. */
  readiness?(): Readiness;
  /**
   * Makes this process's gauges return the combined values of all workers. Call this after all sources have been
   * connected.
   */
  connectGauges?(): void;
}

/** The services that supply the data in the operator's view. */
export interface ViewParts {
  readonly metrics: Metrics;
  readonly upstreams: Upstreams;
  readonly shared: Pick<SharedState, 'metrics'> | undefined;
  readonly live: { readonly cache: PageCache };
}

/** Returns the operator's view of this process alone. */
export function viewOfProcess({ metrics, upstreams, live }: Omit<ViewParts, 'shared'>): OperatorView {
  return {
    upstream: () => upstreams.stats(),
    upstreamHealth: () => upstreams.current.health(),
    upstreamHistory: () => upstreams.current.history(),
    inventory: (query) => live.cache.inventory(query),
    exposition: (format) => metrics.exposition(format),
  };
}

/** The numeric sources whose values never decrease. Values from workers that have exited are still included. */
const COUNTS: ReadonlySet<keyof NumericSources> = new Set([
  'limitsExceeded',
  'failedHandshakes',
  'candidateDropped',
  'ledgerDropped',
  'spansExported',
  'spansFailed',
  'spansDropped',
]);

/**
 * The numeric sources for which the lowest value among all workers is used. `HIGHEST` lists those for which the highest
 * value is used. All other values are summed.
 */
const LOWEST: ReadonlySet<string> = new Set(['upstreamHealthy']);
const HIGHEST: ReadonlySet<string> = new Set(['upstreamCircuitOpen', 'ledgerEntries']);

/** The numeric sources that the primary process measures itself. */
const OWN: ReadonlySet<string> = new Set(['ready', 'certificateNotAfter', 'certificateOutdated']);

/** Collects the workers' reports and adds their counts to the primary process's metrics. */
export function viewOfWorkers(
  { workers, handlers, onEnd }: PrimaryRole,
  { metrics, upstreams, shared }: ViewParts,
): OperatorView {
  const latest = new Map<number, WorkerReport>();
  // This process has just started and has sent no requests, so these counts are all 0.
  const idle = upstreams.stats();
  const departed = {
    stats: idle,
    sharedPages: [] as SharedPageCounts[],
    counts: new Map<keyof NumericSources, number>(),
  };
  const take = (number: number, report: WorkerReport) => {
    if (!isReport(report, idle)) throw new Error('this is not a report of a worker');
    metrics.add(report.increase);
    latest.set(number, report);
  };
  const reports = () => [...latest.values()];
  const connections = () => reports().flatMap(({ redis }) => redis ?? []);
  const refresh = async () => {
    const asked = workers
      .ready()
      .map(async ({ number, peer }) => take(number, (await peer.call('report')) as WorkerReport));
    await Promise.allSettled(asked);
  };
  const valueOf = (key: keyof NumericSources): number => {
    const values = reports().map(({ sources }) => sources[key] ?? 0);
    if (LOWEST.has(key)) return values.length === 0 ? 0 : Math.min(...values);
    if (HIGHEST.has(key)) return Math.max(0, ...values);
    return values.reduce((sum, value) => sum + value, departed.counts.get(key) ?? 0);
  };
  handlers['report'] = (report: WorkerReport, { number }) => take(number, report);
  // When a worker exits, its final counts are preserved, because counters must not decrease.
  onEnd(({ number }) => {
    const report = latest.get(number);
    if (report === undefined) return;
    latest.delete(number);
    departed.stats = sumOfStats([departed.stats, countsOf(report.upstream)]);
    if (report.redis !== undefined)
      departed.sharedPages = [sumOfCounts([...departed.sharedPages, report.redis.sharedPages])];
    for (const key of COUNTS) departed.counts.set(key, (departed.counts.get(key) ?? 0) + (report.sources[key] ?? 0));
  });
  const view: OperatorView = {
    upstream() {
      const stats = reports().map(({ upstream }) => upstream);
      const circuit = stats.find((one) => one.circuit !== 'closed')?.circuit ?? 'closed';
      return { ...sumOfStats([...stats, departed.stats]), circuit };
    },
    upstreamHealth: () => worstHealth(reports().map(({ health }) => health)),
    upstreamHistory() {
      const histories = reports().map(({ history }) => history);
      const failures = histories.flatMap(({ lastFailure }) => lastFailure ?? []);
      return {
        lastFailure: failures.toSorted((one, other) => other.at - one.at)[0],
        changes: histories.flatMap(({ changes }) => changes).toSorted((one, other) => one.at - other.at),
      };
    },
    inventory: async (query) => mergeInventories((await workers.callAll('inventory', query)) as PageInventory[], query),
    async exposition(format) {
      await refresh();
      return metrics.exposition(format, (await workers.callAll('processMetrics')) as MetricObject[][]);
    },
    readiness() {
      if (reports().some(({ readiness }) => readiness.ready)) return { ready: true, reasons: [] };
      const reasons = new Set(reports().flatMap(({ readiness }) => readiness.reasons));
      return { ready: false, reasons: reasons.size === 0 ? ['no worker is running'] : [...reasons] };
    },
    connectGauges() {
      const keys = Object.keys(metrics.readNumbers()) as (keyof NumericSources)[];
      const gauges = keys.filter((key) => !OWN.has(key)).map((key) => [key, () => valueOf(key)] as const);
      metrics.watch({
        ...(Object.fromEntries(gauges) as object),
        upstreamRetries: () => view.upstream().retries,
        upstreamAddresses: () => view.upstreamHealth().addresses,
        workers: () => workers.ready().length,
        workerRestarts: () => workers.restarts(),
      });
      const own = shared?.metrics.sources();
      if (own === undefined) return;
      shared?.metrics.watch({
        ...own,
        isAvailable: () => own.isAvailable() && connections().every(({ available }) => available),
        unsyncedSeconds: () =>
          Math.max(own.unsyncedSeconds(), ...connections().map(({ unsyncedSeconds }) => unsyncedSeconds)),
        sharedPages: () =>
          sumOfCounts([
            own.sharedPages(),
            ...departed.sharedPages,
            ...connections().map(({ sharedPages }) => sharedPages),
          ]),
      });
    },
  };
  return view;
}

/** Returns the worst of several health states. The request counts of each address are summed. */
function worstHealth(all: readonly UpstreamHealth[]): UpstreamHealth {
  const status = (['failing', 'degraded'] as const).find((one) => all.some((health) => health.status === one));
  const byAddress = Map.groupBy(
    all.flatMap(({ addresses }) => addresses),
    ({ address }) => address,
  );
  return {
    status: status ?? 'healthy',
    reasons: [...new Set(all.flatMap(({ reasons }) => reasons))],
    addresses: [...byAddress.values()].flatMap((same) => {
      const worst = same.find((one) => one.state === 'ejected' || one.probe === 'failed') ?? same[0];
      if (worst === undefined) return [];
      const sum = (of: 'succeeded' | 'failed') =>
        same.reduce((total, { requests }) => total + (requests?.[of] ?? 0), 0);
      const requests = worst.requests && { requests: { succeeded: sum('succeeded'), failed: sum('failed') } };
      return [{ ...worst, ...requests, inFlight: same.reduce((total, { inFlight }) => total + inFlight, 0) }];
    }),
  };
}

function sumOfCounts<Counts extends Readonly<Record<string, number>>>(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [key, count] of Object.entries(counts)) sums[key] = (sums[key] ?? 0) + count;
  return sums as Counts;
}

/** Combines the inventories of several caches. */
function mergeInventories(all: readonly PageInventory[], { limit }: InventoryQuery): PageInventory {
  const sum = (of: (one: PageInventory) => number) => all.reduce((total, one) => total + of(one), 0);
  const operations = Map.groupBy(
    all.flatMap((one) => one.operations),
    ({ operation }) => operation,
  );
  const tags = Map.groupBy(
    all.flatMap((one) => one.tags),
    ({ tag }) => tag,
  );
  return {
    entries: sum(({ entries }) => entries),
    bytes: sum(({ bytes }) => bytes),
    maxBytes: sum(({ maxBytes }) => maxBytes),
    operations: [...operations]
      .map(([operation, rows]) =>
        Object.assign({ operation, fresh: rows.reduce((count, { fresh }) => count + fresh, 0) }, sumOfRows(rows)),
      )
      .toSorted((one, other) => other.bytes - one.bytes),
    tags: [...tags]
      .map(([tag, rows]) => Object.assign({ tag }, sumOfRows(rows)))
      .toSorted((one, other) => other.entries - one.entries)
      .slice(0, limit),
    matchingTags: Math.max(0, ...all.map(({ matchingTags }) => matchingTags)),
  };
}

function sumOfRows(
  rows: readonly { readonly entries: number; readonly bytes: number; readonly oldestSeconds: number }[],
) {
  return {
    entries: rows.reduce((total, row) => total + row.entries, 0),
    bytes: rows.reduce((total, row) => total + row.bytes, 0),
    oldestSeconds: Math.max(...rows.map((row) => row.oldestSeconds)),
  };
}
