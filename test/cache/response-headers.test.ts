import { describe, expect, it } from 'vitest';
import { cacheStatus, CLIENT_CACHE_HEADERS, keptHeaders } from '../../src/cache/response-headers.ts';

describe('Cache-Status', () => {
  it('says hit with the seconds left', () => {
    expect(cacheStatus({ kind: 'hit', ttlSeconds: 12.7 })).toBe('portico; hit; ttl=12');
    expect(cacheStatus({ kind: 'hit', ttlSeconds: -0.5 })).toBe('portico; hit; ttl=-1');
  });

  it('says why a request was forwarded, and what became of the answer', () => {
    expect(cacheStatus({ kind: 'forward', because: 'miss', stored: true })).toBe('portico; fwd=miss; stored');
    expect(cacheStatus({ kind: 'forward', because: 'miss', stored: false })).toBe('portico; fwd=miss');
    expect(cacheStatus({ kind: 'forward', because: 'stale' })).toBe('portico; fwd=stale');
    expect(cacheStatus({ kind: 'forward', because: 'bypass' })).toBe('portico; fwd=bypass');
    expect(cacheStatus({ kind: 'forward', because: 'miss', collapsed: true })).toBe('portico; fwd=miss; collapsed');
  });

  it('says that a stale page stood in for a failing upstream', () => {
    expect(
      cacheStatus({
        kind: 'forward',
        because: 'stale',
        upstreamStatus: 500,
        ttlSeconds: -40,
        detail: 'stale-if-error',
      }),
    ).toBe('portico; fwd=stale; fwd-status=500; ttl=-40; detail=stale-if-error');
  });
});

describe('the fields of a stored page', () => {
  it('are those that describe its content, in their own case and order', () => {
    const kept = [
      ['content-language', 'en'],
      ['Content-Type', 'application/json;charset=UTF-8'],
    ] as const;
    expect(keptHeaders(kept)).toEqual(kept);
  });

  it.each([
    'Set-Cookie',
    'set-cookie2',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Age',
    'Date',
    'Content-Length',
    'Content-Encoding',
    'ETag',
    'Cache-Control',
    'WWW-Authenticate',
    'X-AUSERNAME',
    'X-Request-Id',
  ])('are never %s', (name) => {
    expect(keptHeaders([[name, 'x']])).toEqual([]);
  });
});

describe('what clients are told', () => {
  it('is to keep the page for themselves, to ask before each use, and that it has coded forms', () => {
    expect(CLIENT_CACHE_HEADERS).toEqual([
      ['Cache-Control', 'private, no-cache'],
      ['Vary', 'Accept-Encoding'],
    ]);
  });
});
