import type { UpstreamStats } from '../../upstream/create-upstream.ts';
import type { UpstreamHealth } from '../../upstream/upstream-health.ts';

/** Adds up the statistics of several upstreams. The circuit state is that of the first upstream. */
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

/** Returns the counts in statistics, without the requests and connections that exist at the moment. */
export function countsOf(stats: UpstreamStats): UpstreamStats {
  return { ...stats, inFlight: 0, queued: 0, streams: 0, openConnections: 0 };
}

/** Returns the worst of several states of health. The numbers of requests to each address are added up. */
export function worstHealth(all: readonly UpstreamHealth[]): UpstreamHealth {
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
