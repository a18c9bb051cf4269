import { bucketQuantile } from '../../lib/bucket-quantile.ts';
import { sumRow } from './traffic-view.ts';
import type { GateHistory } from '../../engine/upstream/upstream-gate.ts';
import type { UpstreamHealth } from '../../engine/upstream/upstream-health.ts';
import type { UpstreamStats } from '../../engine/upstream/upstream-stats.ts';
import type { ConsoleSources } from './console-sources.ts';
import { trimEndOf } from '../../lib/trim-end.ts';

/** The upstream's current state. */
type UpstreamState = Pick<UpstreamStats, 'inFlight' | 'queued' | 'circuit' | 'openConnections'>;

interface UpstreamView extends UpstreamState, GateHistory {
  /** The upstream's base address, without credentials. */
  readonly address: string;
  readonly health: UpstreamHealth;
  /** The number of consecutive failures that open the circuit. */
  readonly opensAfter: number;
  readonly startedAt: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly since: number;
  readonly until: number;
  /** The upper bounds of the latency buckets, in seconds. They also limit the percentiles that can be reported. */
  readonly bounds: readonly number[];
  readonly exchanges: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly failures: readonly { readonly kind: string; readonly count: number }[];
  readonly operations: readonly {
    readonly operation: string;
    readonly exchanges: number;
    readonly p50: number | undefined;
    readonly p99: number | undefined;
  }[];
}

/** Returns the upstream's current state and its statistics for the requested number of minutes. */
export function upstreamView(sources: ConsoleSources, minutes: number): UpstreamView {
  const { url, circuit, concurrency, queue } = sources.settings.upstream;
  const { steps, buckets, operations, failureKinds, since, until } = sources.traffic.window(minutes * 60);
  const latency = (row?: number) => {
    const seconds = sumRow(steps, 'exchange', buckets.exchange.length + 1, row);
    return {
      exchanges: seconds.reduce((sum, count) => sum + count, 0),
      p50: bucketQuantile(0.5, buckets.exchange, seconds),
      p99: bucketQuantile(0.99, buckets.exchange, seconds),
    };
  };
  const failures = sumRow(steps, 'failures', failureKinds.length);
  const gateway = sources.gateway();
  return {
    ...gateway.upstreamStats(),
    ...gateway.upstreamHistory(),
    address: addressOf(url),
    health: gateway.upstreamHealth(),
    opensAfter: circuit.failures,
    startedAt: gateway.startedAt,
    concurrency,
    queue,
    since,
    until,
    bounds: buckets.exchange,
    ...latency(),
    failures: failureKinds.map((kind, index) => ({ kind, count: failures[index] ?? 0 })),
    operations: operations.map((operation, row) => Object.assign({ operation }, latency(row))),
  };
}

/** Returns an address's origin and path, without credentials or a query. */
export function addressOf(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${trimEndOf(pathname, '/')}`;
}
