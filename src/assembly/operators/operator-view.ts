import type { PageCache } from '../../cache/page-cache.ts';
import type { InventoryQuery, PageInventory } from '../../cache/page-inventory.ts';
import type { Readiness } from '../../http/admin-app.ts';
import type { Metrics, MetricsFormat } from '../../telemetry/metrics.ts';
import type { UpstreamStats } from '../../upstream/create-upstream.ts';
import type { GateHistory } from '../../upstream/upstream-gate.ts';
import type { UpstreamHealth } from '../../upstream/upstream-health.ts';
import type { Upstreams } from '../features/upstreams.ts';
import type { SharedState } from '../sharing/shared-state.ts';

/** The operator's view of the processes that serve requests: this process alone, or all workers together. */
export interface OperatorView {
  upstream(): UpstreamStats;
  upstreamHealth(): UpstreamHealth;
  upstreamHistory(): GateHistory;
  inventory(query: InventoryQuery): PageInventory | Promise<PageInventory>;
  /** Returns the metrics as text, with the counts of all processes. */
  exposition: (format?: MetricsFormat) => Promise<string>;
  /** Returns the readiness of the workers. Undefined if this process serves requests itself. */
  readiness?(): Readiness;
  /**
   * Makes the gauges of this process return the combined values of all workers. Call this after all sources have been
   * connected.
   */
  connectGauges?(): void;
}

/** What the view is read from. */
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
