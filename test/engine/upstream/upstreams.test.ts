import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUpstreams } from '../../../src/engine/upstream/upstreams.ts';
import type { Upstream } from '../../../src/engine/upstream/create-upstream.ts';
import type { UpstreamStats } from '../../../src/engine/upstream/upstream-stats.ts';

/** Creates an upstream with the given statistics. */
function fakeUpstream(stats: Partial<UpstreamStats> = {}) {
  const retries = { succeeded: 0, failed: 0, refused: 0 };
  const numbers = { inFlight: 0, queued: 0, streams: 0, openConnections: 0, limitsExceeded: 0, retries, ...stats };
  const closed: (number | undefined)[] = [];
  const probing: boolean[] = [];
  let sent = 0;
  const upstream = {
    runProbes: (isOn: boolean) => void probing.push(isOn),
    stats: () => numbers,
    exchange: () => Promise.resolve(void (sent += 1)),
    close: (graceMs?: number) => {
      closed.push(graceMs);
      return Promise.resolve();
    },
  } as unknown as Upstream;
  return { upstream, numbers, closed, probing, sent: () => sent };
}

describe('the upstreams of a gateway that was reloaded', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are counted together until the replaced one is closed, and no counter decreases', () => {
    const [old, next] = [
      fakeUpstream({ inFlight: 2, limitsExceeded: 5, retries: { succeeded: 3, failed: 2, refused: 1 } }),
      fakeUpstream({ inFlight: 1, limitsExceeded: 1 }),
    ];
    const upstreams = createUpstreams(old.upstream, 1000);
    upstreams.use(next.upstream);
    void upstreams.retire(old.upstream);
    expect(upstreams.current).toBe(next.upstream);
    const counted = { limitsExceeded: 6, retries: { succeeded: 3, failed: 2, refused: 1 } };
    expect(upstreams.stats()).toMatchObject({ inFlight: 3, ...counted });
    old.numbers.inFlight = 0;
    vi.advanceTimersByTime(1000);
    expect(old.closed).toEqual([0]);
    expect(upstreams.stats()).toMatchObject({ inFlight: 1, ...counted });
  });

  it.each(['inFlight', 'queued', 'streams'] as const)('stay open while one of them has %s', (what) => {
    const old = fakeUpstream({ [what]: 1 });
    const upstreams = createUpstreams(old.upstream, 1000);
    upstreams.use(fakeUpstream().upstream);
    void upstreams.retire(old.upstream);
    vi.advanceTimersByTime(5000);
    expect(old.closed).toEqual([]);
    old.numbers[what] = 0;
    vi.advanceTimersByTime(1000);
    expect(old.closed).toHaveLength(1);
  });

  // The verifier survives a reload that changes only timeouts. After that, it must not use connections that have
  // already been closed.
  it('are represented by the current one, except for one that is not in use yet', async () => {
    const [old, next, candidate] = [fakeUpstream(), fakeUpstream(), fakeUpstream()];
    const upstreams = createUpstreams(old.upstream, 1000);
    const sends = [old, next, candidate].map(({ upstream }) => upstreams.latest(upstream));
    upstreams.use(next.upstream);
    await upstreams.retire(old.upstream);
    vi.advanceTimersByTime(1000);
    for (const send of sends) await send({ method: 'GET', target: '/', headers: [], mode: 'buffered' });
    expect([old.sent(), next.sent(), candidate.sent()]).toEqual([0, 2, 1]);
  });

  it('are closed at once if they have never been used, and not at all while they are used', async () => {
    const [old, refused] = [fakeUpstream(), fakeUpstream()];
    const upstreams = createUpstreams(old.upstream, 1000);
    await upstreams.retire(refused.upstream);
    expect(refused.closed).toEqual([0]);
    // A reload that fails late goes back to the upstream before it.
    const next = fakeUpstream();
    upstreams.use(next.upstream);
    upstreams.use(old.upstream);
    await upstreams.retire(next.upstream);
    vi.advanceTimersByTime(5000);
    expect([old.closed, next.closed]).toEqual([[], [0]]);
    expect(upstreams.current).toBe(old.upstream);
  });

  it('are all closed with the gateway', async () => {
    const [old, next] = [fakeUpstream({ streams: 1 }), fakeUpstream()];
    const upstreams = createUpstreams(old.upstream, 1000);
    upstreams.use(next.upstream);
    void upstreams.retire(old.upstream);
    await upstreams.close(0);
    expect([old.closed, next.closed]).toEqual([[0], [0]]);
    vi.advanceTimersByTime(5000);
    expect(old.closed).toHaveLength(1);
  });

  it('are probed only while they are the current one, once probes have started', () => {
    const [old, next, last] = [fakeUpstream(), fakeUpstream(), fakeUpstream()];
    const upstreams = createUpstreams(old.upstream);
    upstreams.use(next.upstream);
    expect([old.probing, next.probing]).toEqual([[false], [false]]);
    upstreams.startProbes();
    upstreams.use(last.upstream);
    expect([next.probing, last.probing]).toEqual([[false, true, false], [true]]);
  });
});
