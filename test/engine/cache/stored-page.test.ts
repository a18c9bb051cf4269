import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ageSeconds,
  audienceOfKey,
  CLIENT_CACHE_HEADERS,
  cacheKey,
  type CacheKeyParts,
  isKnownEverywhere,
  isShared,
  operationOfKey,
  pageBytes,
  type StoredPageInput,
  toStoredPage,
  versionOfKey,
} from '../../../src/engine/cache/stored-page.ts';
import { etagOf } from '../../../src/engine/cache/representation.ts';

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

describe('the parts of a cache key', () => {
  it('can be read from it', () => {
    const key = cacheKey({ pageVersion: 'v', operationId: 'o', audience: 'a', upstreamTarget: '/t' });
    expect([versionOfKey(key), operationOfKey(key), audienceOfKey(key)]).toEqual(['v', 'o', 'a']);
  });

  it('are empty in a text that is no key', () => {
    expect([operationOfKey('x'), audienceOfKey('x\ny')]).toEqual(['', '']);
  });
});

/*
 * The attack: a page that is stored for one caller is served to others, or to a caller of another gateway for whom the
 * name of the audience means somebody else.
 */
describe('an audience', () => {
  it.each([
    ['public', true, true],
    ['permissions:key', true, true],
    ['caller:anonymous:anonymous', false, true],
    ['caller:verified:user:alice', false, true],
    ['caller:verified:user:alice;hash', false, false],
    ['caller:anonymous:anonymous;hash', false, false],
    ['caller:unverified:unverified:hash', false, false],
    ['caller:verified:user', false, false],
  ])('%s is shared: %s, and the same in every process: %s', (audience, shared, everywhere) => {
    expect([isShared(audience), isKnownEverywhere(audience)]).toEqual([shared, everywhere]);
  });
});

describe('a stored page', () => {
  const input: StoredPageInput = {
    body: Buffer.from('{}'),
    headers: [['Content-Type', 'application/json']],
    freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 20, staleIfErrorSeconds: 300 },
    pageCount: 3,
    carriesPrivate: false,
    validity: 'valid',
    filledBy: 'caller:verified:user:alice',
  };

  it('is fresh, stale and usable after errors for the configured times', () => {
    const page = toStoredPage(input, ['ideas'], 1_000_000, 999_000);
    expect(page).toMatchObject({
      status: 200,
      etag: etagOf(input.body),
      storedAt: 1_000_000,
      asOf: 999_000,
      freshUntilAt: 1_030_000,
      staleUntilAt: 1_050_000,
      errorUntilAt: 1_330_000,
      initialAgeSeconds: 0,
      tags: ['ideas'],
      pageCount: 3,
      filledBy: 'caller:verified:user:alice',
    });
  });

  // A cookie belongs to one caller, and must not reach another one with the page.
  it('has no cookies, in whatever case the upstream writes them', () => {
    const cookies = [
      ['Set-Cookie', 'SID=1'],
      ['set-cookie2', 'SID=2'],
      ['X-Set-Cookie', 'other'],
    ] as const;
    const page = toStoredPage({ ...input, headers: [...cookies, ...input.headers] }, [], 0, 0);
    expect(page.headers).toEqual([['X-Set-Cookie', 'other'], ...input.headers]);
  });

  it('cannot be changed, not even through the buffer of the response', () => {
    const body = Buffer.from('{"a":1}');
    const page = toStoredPage({ ...input, body }, ['ideas'], 0, 0);
    body.fill('x');
    expect(page.body.toString()).toBe('{"a":1}');
    expect([page, page.headers, page.headers[0], page.tags].every(Object.isFrozen)).toBe(true);
  });

  it('shares its headers with the page before only if they are equal', () => {
    const headersOf = (...headers: StoredPageInput['headers']) => toStoredPage({ ...input, headers }, [], 0, 0).headers;
    const first = headersOf(['A', '1'], ['B', '2']);
    expect(headersOf(['A', '1'], ['B', '2'])).toBe(first);
    expect(headersOf(['A', '1'], ['B', '3'])).toEqual([
      ['A', '1'],
      ['B', '3'],
    ]);
    expect(headersOf(['A', '1'], ['C', '3'])).toEqual([
      ['A', '1'],
      ['C', '3'],
    ]);
    expect(headersOf(['A', '1'])).toEqual([['A', '1']]);
    expect(headersOf(['A', '1'], ['B', '2'])).toEqual(first);
  });

  it('has an age in whole seconds, which includes that of the response and is never less', () => {
    const page = toStoredPage({ ...input, ageSeconds: 5 }, [], 1_000_000, 0);
    expect([1_000_000, 1_000_999, 1_001_000, 990_000].map((now) => ageSeconds(page, now))).toEqual([5, 5, 6, 5]);
  });

  it('counts in memory with its key, body, headers and tags', () => {
    const page = toStoredPage(input, ['ideas'], 0, 0);
    const header = 64 + 'Content-Type'.length + 'application/json'.length;
    expect(pageBytes(page, 'key')).toBe(512 + 2 * 3 + 2 + header + 96 + 'ideas'.length);
  });
});
