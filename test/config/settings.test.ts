import { describe, expect, it } from 'vitest';
import { workerShare } from '../../src/config/settings.ts';
import { settingsOf } from '../assembly/settings.ts';

describe('the share of one of several workers', () => {
  const config = {
    workers: 4,
    upstream: { concurrency: 10, queue: 6, streams: { total: 2 } },
    cache: { maxBytes: 40_000_000 },
    authentication: { failures: { limit: 8, limitPerName: 20 } },
  };

  // If each of the four workers used the whole limit, the legacy server would receive four times as many concurrent
  // requests as it can handle.
  it('is an equal part of every limit on all workers together', () => {
    const { upstream, cache, authentication } = workerShare(settingsOf(config));
    expect(upstream).toMatchObject({ concurrency: 3, queue: 2, streams: { total: 1 } });
    expect(cache.maxBytes).toBe(10_000_000);
    expect(authentication.failures).toMatchObject({ limit: 2, limitPerName: 5 });
  });

  // Redis counts failed logins across all workers. If the limit were divided among the workers, callers would be
  // refused too early.
  it('contains the whole limit on failed logins if they are counted in Redis', () => {
    const { upstream, authentication } = workerShare(settingsOf({ ...config, redis: { url: 'redis://127.0.0.1:1' } }));
    expect(upstream.concurrency).toBe(3);
    expect(authentication.failures).toMatchObject({ limit: 8, limitPerName: 20 });
  });
});
