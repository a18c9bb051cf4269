import { describe, expect, it } from 'vitest';
import { viewOfWorkers } from '../../../src/assembly/operators/operator-view.ts';
import type { PrimaryRole } from '../../../src/assembly/sharing/process-role.ts';
import { createUpstreams } from '../../../src/assembly/features/upstreams.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createRedisMetrics } from '../../../src/telemetry/redis-metrics.ts';
import type { Upstream } from '../../../src/upstream/create-upstream.ts';

const retries = { succeeded: 0, failed: 0, refused: 0 };
const idle = {
  inFlight: 0,
  queued: 0,
  streams: 0,
  openConnections: 0,
  limitsExceeded: 0,
  circuit: 'closed' as const,
  retries,
};
const shared = { hit: 0, miss: 0, invalid: 0, away: 0, error: 0, waits: 0, avoided: 0 };
const report = {
  increase: [],
  sources: { upstreamInFlight: 2, spansExported: 5 },
  redis: { available: true, unsyncedSeconds: 1, sharedPages: { ...shared, hit: 4 } },
  upstream: { ...idle, inFlight: 2, retries: { succeeded: 1, failed: 0, refused: 0 } },
  health: { status: 'healthy', reasons: [], addresses: [] },
  history: { lastFailure: undefined, changes: [] },
  readiness: { ready: true, reasons: [] },
};

/** Returns the operator's view of a primary process whose workers report when the test tells them to. */
function primary() {
  const redis = createRedisMetrics();
  redis.watch({ isAvailable: () => true, unsyncedSeconds: () => 0, sharedPages: () => shared, instances: () => [] });
  const options = { operations: [], permissions: [], mode: 'balanced', checks: {}, version: '1', contractVersion: '1' };
  const metrics = createMetrics(options as unknown as Parameters<typeof createMetrics>[0], redis);
  const handlers: PrimaryRole['handlers'] = {};
  const ends: ((worker: { number: number; pid: undefined }) => void)[] = [];
  const role: PrimaryRole = {
    kind: 'primary',
    workers: { ready: () => [], joined: () => [], callAll: () => Promise.resolve([]), restarts: () => 0 },
    changes: {} as PrimaryRole['changes'],
    handlers,
    onEnd: (listener) => void ends.push(listener),
    publicAddress: () => undefined,
  };
  const view = viewOfWorkers(role, {
    metrics,
    upstreams: createUpstreams({ stats: () => idle } as unknown as Upstream),
    shared: { metrics: redis },
    live: { cache: {} as never },
  });
  metrics.watch({ spansExported: () => 0 });
  view.connectGauges?.();
  const take = (value: unknown, number = 1) => handlers['report']?.(value as never, { number, pid: undefined });
  return { view, redis, take, end: (number: number) => ends.forEach((one) => one({ number, pid: undefined })) };
}

describe('the view of operators on several workers', () => {
  it('adds the counts of workers, also of those that have ended, and shows the worst connection to Redis', async () => {
    const { view, redis, take, end } = primary();
    take(report);
    take({ ...report, redis: { ...report.redis, available: false, unsyncedSeconds: 7 } }, 2);
    expect(view.upstream()).toMatchObject({ inFlight: 4, retries: { succeeded: 2 } });
    expect(redis.text()).toContain('portico_redis_up 0');
    expect(redis.text()).toContain('portico_redis_unsynced_seconds 7');
    end(2);
    expect(view.upstream()).toMatchObject({ inFlight: 2, retries: { succeeded: 2 } });
    expect(redis.text()).toContain('portico_redis_up 1');
    expect(redis.text()).toContain('{result="hit"} 8');
    // This counter must not decrease when a worker ends.
    expect(await view.exposition()).toContain('portico_trace_spans_total{outcome="exported"} 10');
  });

  it('refuses reports that are damaged, so that they do not change any number', async () => {
    const { view, take } = primary();
    take(report);
    const before = [view.upstream(), view.readiness?.(), (await view.exposition()).match(/^portico_(?!scrape_).*/gm)];
    const counts = Float64Array.of(Number.NaN);
    const damaged: unknown[] = [
      undefined,
      null,
      5,
      'report',
      [],
      {},
      { ...report, increase: [null] },
      { ...report, increase: [{ family: 0, names: ['a'], counts }] },
      { ...report, increase: [{ family: 0, names: ['a'], counts: [-1] }] },
      { ...report, sources: { upstreamInFlight: 'many' } },
      { ...report, sources: null },
      { ...report, upstream: { ...idle, retries: undefined } },
      { ...report, health: { status: 'healthy', reasons: [], addresses: [undefined] } },
      { ...report, history: { changes: 3 } },
      { ...report, readiness: true },
    ];
    for (const one of damaged) expect(() => take(one), JSON.stringify(one)).toThrow('not a report of a worker');
    const after = [view.upstream(), view.readiness?.(), (await view.exposition()).match(/^portico_(?!scrape_).*/gm)];
    expect(after).toEqual(before);
  });
});
