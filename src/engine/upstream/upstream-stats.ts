import type { RetryCounts } from './retries.ts';
import type { UpstreamGate } from './upstream-gate.ts';

/** Statistics on the exchanges with the upstream, for metrics and for the console. */
export interface UpstreamStats extends ReturnType<UpstreamGate['stats']> {
  readonly openConnections: number;
  /** The number of exchanges that would have been refused. Counted only if limits are observed rather than enforced. */
  readonly limitsExceeded: number;
  readonly retries: RetryCounts;
}

/** Sums the statistics of several upstreams. The circuit state is that of the first upstream. */
export function sumOfStats(all: readonly UpstreamStats[]): UpstreamStats {
  const sum = (of: (stats: UpstreamStats) => number) => all.reduce((total, stats) => total + of(stats), 0);
  const [first] = all;
  if (first === undefined) throw new Error('there are no upstreams to add');
  return {
    ...first,
    inFlight: sum(({ inFlight }) => inFlight),
    queued: sum(({ queued }) => queued),
    streams: sum(({ streams }) => streams),
    openConnections: sum(({ openConnections }) => openConnections),
    limitsExceeded: sum(({ limitsExceeded }) => limitsExceeded),
    retries: {
      succeeded: sum(({ retries }) => retries.succeeded),
      failed: sum(({ retries }) => retries.failed),
      refused: sum(({ retries }) => retries.refused),
    },
  };
}

/** Returns the cumulative counts from the statistics, without the numbers of current requests and connections. */
export function countsOf(stats: UpstreamStats): UpstreamStats {
  return { ...stats, inFlight: 0, queued: 0, streams: 0, openConnections: 0 };
}
