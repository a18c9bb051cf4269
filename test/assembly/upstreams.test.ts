import { expect, it, vi } from 'vitest';
import { createUpstreams } from '../../src/assembly/upstreams.ts';
import type { Upstream, UpstreamStats } from '../../src/upstream/create-upstream.ts';
import { fakeExchanges } from '../builders/fake-exchanges.ts';

function upstreamWith(more: Partial<UpstreamStats>): Upstream {
  const { upstream } = fakeExchanges(() => Promise.reject(new Error('not used')));
  return { ...upstream, stats: () => ({ ...upstream.stats(), ...more }) };
}

it('counters of upstreams never decrease when a reload replaces and closes one', () => {
  vi.useFakeTimers();
  try {
    const retries = { succeeded: 3, failed: 2, refused: 1 };
    const upstreams = createUpstreams(upstreamWith({ retries, limitsExceeded: 4 }), 1000);
    upstreams.use(upstreamWith({ retries, limitsExceeded: 1 }));
    const both = { retries: { succeeded: 6, failed: 4, refused: 2 }, limitsExceeded: 5 };
    expect(upstreams.stats()).toMatchObject(both);
    vi.advanceTimersByTime(1000);
    expect(upstreams.stats()).toMatchObject(both);
  } finally {
    vi.useRealTimers();
  }
});
