import { describe, expect, it } from 'vitest';
import { trafficView } from '../../../src/features/console/traffic-view.ts';
import { createTrace } from '../../../src/engine/model/trace.ts';
import { createMetrics } from '../../../src/engine/telemetry/metrics.ts';
import { createTrafficHistory } from '../../../src/features/console/traffic-history.ts';
import { MODES } from '../../../src/engine/model/modes.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const operation = (id: string) => ({ id, method: 'GET' as const, path: `/${id}.json`, summary: '', row: undefined });

function view() {
  const clock = createTestClock();
  const metrics = createMetrics({
    operations: ['one', 'two'].map((id) => {
      return { id, paging: undefined, cacheability: { byDefault: true, tags: [] }, privateFields: undefined };
    }),
    permissions: [],
    mode: 'strict',
    checks: MODES.strict.checks,
    version: '1',
    contractVersion: 'v',
  } as unknown as Parameters<typeof createMetrics>[0]);
  const traffic = createTrafficHistory(metrics.traffic, clock);
  return {
    clock,
    call: (id: string, status: number, cache?: 'hit' | 'miss', seconds = 0.003) => {
      const trace = createTrace({ requestId: 'r', traceparent: '', method: 'GET', startedAt: clock() });
      metrics.record(Object.assign(trace, { operation: id, status, seconds, cache: cache && { status: cache } }));
    },
    sample: () => traffic.sample(),
    look: (minutes = 15, wanted = '') =>
      trafficView({ traffic, operations: ['one', 'two'].map(operation) }, { minutes, operation: wanted }),
  };
}

describe('the view of traffic', () => {
  it('sums requests, errors, latencies and hits by operation and in total', () => {
    const { call, look } = view();
    call('one', 200, 'hit');
    call('one', 200, 'miss', 0.2);
    call('one', 503);
    call('two', 404);
    call('two', 0);
    call('elsewhere', 404);
    const { rows, total, bounds } = look();
    expect(
      rows.map((row) => [row.operation, row.path, row.requests, row.clientErrors, row.serverErrors, row.aborted]),
    ).toEqual([
      ['one', '/one.json', 3, 0, 1, 0],
      ['two', '/two.json', 2, 1, 0, 1],
      ['undocumented', undefined, 1, 1, 0, 0],
    ]);
    expect(rows[0]).toMatchObject({ hitRatio: 0.5 });
    expect(rows[0]?.p50).toBeLessThan(0.01);
    expect(rows[0]?.p99).toBeGreaterThan(0.1);
    expect(rows[1]?.hitRatio).toBeUndefined();
    expect(total.requests).toBe(6);
    expect(bounds[0]).toBeGreaterThan(0);
  });

  it('has at most ninety points, of one operation if requested', () => {
    const { clock, call, sample, look } = view();
    for (let step = 0; step < 720; step++) {
      call(step % 2 === 0 ? 'one' : 'two', 200);
      sample();
      clock.advance(5);
    }
    const all = look(60).points;
    expect(all.length).toBeLessThanOrEqual(91);
    expect(all.reduce((sum, { requests }) => sum + requests, 0)).toBe(719);
    expect(all[5]).toMatchObject({ requests: 8, seconds: 40 });
    expect(look(60, 'one').points[5]).toMatchObject({ requests: 4 });
    expect(look(60, 'nobody').points[5]).toMatchObject({ requests: 8 });
  });

  it('shows no jump at the newest point, which has just begun', () => {
    const { clock, call, sample, look } = view();
    for (let step = 0; step < 6; step++) {
      for (let times = 0; times < 10; times++) call('one', 200);
      sample();
      clock.advance(5);
    }
    for (let times = 0; times < 10; times++) call('one', 200);
    const rates = look(60).points.map(({ requests, seconds }) => requests / seconds);
    expect(Math.max(...rates)).toBeLessThan(2.5);
  });
});
