import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_CACHE_HEADERS, cacheKey, type CacheKeyParts } from '../../../src/engine/cache/stored-page.ts';

describe('the cache headers for clients', () => {
  it('require private storage and revalidation, and announce coded forms', () => {
    expect(CLIENT_CACHE_HEADERS).toEqual([
      ['Cache-Control', 'private, no-cache'],
      ['Vary', 'Accept-Encoding'],
    ]);
  });
});

describe('a cache key', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('"', ',', '[', ']', '\\', '|', '\n', '\0', 'a') }),
  );
  const parts: fc.Arbitrary<CacheKeyParts> = fc.record({
    pageVersion: text,
    operationId: text,
    audience: text,
    upstreamTarget: text,
  });

  it('is the same only for the same target, operation, audience and contract version', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = Object.keys(a).every((name) => Reflect.get(a, name) === Reflect.get(b, name));
        expect(cacheKey(a) === cacheKey(b)).toBe(same);
      }),
    );
  });

  it('separates its parts unambiguously', () => {
    const base = { pageVersion: '1', operationId: 'o', upstreamTarget: '/t' };
    const key = cacheKey({ ...base, audience: 'a","/t' });
    expect(key).not.toBe(cacheKey({ ...base, audience: 'a', upstreamTarget: '/t","/t' }));
  });

  it('differs in each of its parts', () => {
    const base = { pageVersion: '1', operationId: 'o', audience: 'a', upstreamTarget: '/t' };
    const keys = Object.keys(base).map((name) => cacheKey({ ...base, [name]: 'other' }));
    expect(new Set([cacheKey(base), ...keys]).size).toBe(5);
  });
});
