import { describe, expect, it } from 'vitest';
import { cacheStatus } from '../../../src/engine/cache/cache-status.ts';

describe('Cache-Status', () => {
  it('shows a hit with the remaining seconds', () => {
    expect(cacheStatus({ kind: 'hit', ttlSeconds: 12.7 })).toBe('portico; hit; ttl=12');
    expect(cacheStatus({ kind: 'hit', ttlSeconds: -0.5 })).toBe('portico; hit; ttl=-1');
  });

  it('shows that another gateway has fetched a page, and that an override made it be served', () => {
    expect(cacheStatus({ kind: 'shared', ttlSeconds: 12.7 })).toBe('portico; hit; ttl=12; detail=shared');
    expect(cacheStatus({ kind: 'forced', ttlSeconds: -3 })).toBe('portico; hit; ttl=-3; detail=force-stale');
  });

  it('shows why a request was forwarded, and what happened to the response', () => {
    expect(cacheStatus({ kind: 'forward', because: 'miss', stored: true })).toBe('portico; fwd=miss; stored');
    expect(cacheStatus({ kind: 'forward', because: 'miss', stored: false })).toBe('portico; fwd=miss');
    expect(cacheStatus({ kind: 'forward', because: 'stale' })).toBe('portico; fwd=stale');
    expect(cacheStatus({ kind: 'forward', because: 'bypass' })).toBe('portico; fwd=bypass');
    expect(cacheStatus({ kind: 'forward', because: 'miss', collapsed: true })).toBe('portico; fwd=miss; collapsed');
  });

  it('shows that a stale page was served because the upstream failed', () => {
    expect(
      cacheStatus({
        kind: 'forward',
        because: 'stale',
        ttlSeconds: -40,
        detail: 'stale-if-error',
      }),
    ).toBe('portico; fwd=stale; ttl=-40; detail=stale-if-error');
  });
});
