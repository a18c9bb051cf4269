import { describe, expect, it } from 'vitest';
import { DEFAULT_CACHE_OPTIONS } from '../../src/cache/cache-options.ts';
import { freshnessFor, upstreamAge } from '../../src/cache/freshness-for.ts';
import type { HeaderPairs } from '../../src/model/header-pairs.ts';

const now = Date.parse('Thu, 05 Nov 2026 10:00:00 GMT');
const respecting = { ...DEFAULT_CACHE_OPTIONS, respectUpstream: true };
const fresh = (...headers: HeaderPairs) => freshnessFor(headers, respecting, now).freshSeconds;
const stale = (value: string) => freshnessFor([['Cache-Control', value]], respecting, now);

describe('freshness', () => {
  it("is the configured one regardless of the upstream's Cache-Control, unless respectUpstream is set", () => {
    expect(freshnessFor([['Cache-Control', 'max-age=5']], DEFAULT_CACHE_OPTIONS, now).freshSeconds).toBe(30);
    expect(fresh(['Cache-Control', 'max-age=5'])).toBe(5);
  });

  it('is the configured one if the upstream specifies none', () => {
    expect(fresh(['Content-Type', 'application/json'])).toBe(30);
  });

  it('prefers s-maxage over max-age, and max-age over Expires', () => {
    const expires = ['Expires', 'Thu, 05 Nov 2026 10:00:09 GMT'] as const;
    expect(fresh(expires)).toBe(9);
    expect(fresh(['Cache-Control', 'max-age=8'], expires)).toBe(8);
    expect(fresh(['Cache-Control', 'max-age=8, s-maxage=7'], expires)).toBe(7);
  });

  it("computes Expires relative to the upstream's Date", () => {
    const date = ['Date', 'Thu, 05 Nov 2026 09:00:00 GMT'] as const;
    expect(fresh(['Expires', 'Thu, 05 Nov 2026 09:00:20 GMT'], date)).toBe(20);
  });

  it.each(['0', '-1', 'soon', 'Thu, 05 Nov 2026 09:59:59 GMT'])('is zero with Expires: %s', (expires) => {
    expect(fresh(['Expires', expires])).toBe(0);
  });

  it("is shortened by the upstream's Age", () => {
    expect(fresh(['Cache-Control', 'max-age=60'], ['Age', '50'])).toBe(10);
    expect(fresh(['Cache-Control', 'max-age=60'], ['Age', '70'])).toBe(0);
    expect(upstreamAge([['Age', 'x']])).toBe(0);
  });

  it('is at most a day', () => {
    expect(fresh(['Cache-Control', 'max-age=9999999999'])).toBe(86_400);
  });

  it('excludes stale use if the upstream requires revalidation, and respects RFC 5861', () => {
    expect(stale('max-age=5, must-revalidate')).toMatchObject({
      staleWhileRevalidateSeconds: 0,
      staleIfErrorSeconds: 0,
    });
    expect(stale('s-maxage=5')).toMatchObject({ staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 });
    expect(stale('max-age=5, stale-while-revalidate=7, stale-if-error=9')).toMatchObject({
      staleWhileRevalidateSeconds: 7,
      staleIfErrorSeconds: 9,
    });
    expect(stale('max-age=5')).toMatchObject({ staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 });
  });
});
