import { describe, expect, it } from 'vitest';
import {
  cacheDirectives,
  directiveSeconds,
  longestFreshness,
  mayBypass,
  freshnessFor,
  storeRefusal,
  type StoreCandidate,
  upstreamAge,
  type Validity,
} from '../../../src/engine/cache/may-store.ts';
import { DEFAULT_CACHE_OPTIONS, type StoreRule } from '../../../src/engine/cache/cache-options.ts';
import type { HeaderPairs } from '../../../src/engine/model/header-pairs.ts';

describe('a response that may be stored', () => {
  const candidate = (changes: Partial<StoreCandidate> = {}): StoreCandidate => ({
    status: 200,
    headers: [['Content-Type', 'application/json']],
    mediaType: 'application/json',
    isEnvelope: true,
    hasTopLevelError: false,
    validity: 'valid',
    options: DEFAULT_CACHE_OPTIONS,
    receivedAt: 1_000_000,
    ...changes,
  });
  const reason = (changes: Partial<StoreCandidate>) => storeRefusal(candidate(changes)) ?? 'stored';

  it('is a valid 200', () => {
    expect(storeRefusal(candidate())).toBeUndefined();
  });

  it.each([201, 204, 301, 304, 400, 401, 403, 404, 500, 503])('is never a %i', (status) => {
    expect(reason({ status })).toBe('status');
  });

  it('is never a 200 with an error in its body', () => {
    expect(reason({ hasTopLevelError: true })).toBe('error-inside');
    expect(reason({ hasTopLevelError: true, options: { ...DEFAULT_CACHE_OPTIONS, store: 'wellFormed' } })).toBe(
      'error-inside',
    );
  });

  it('never has Set-Cookie', () => {
    expect(reason({ headers: [['set-cookie', 'JSESSIONID=1']] })).toBe('set-cookie');
  });

  it('never has Vary with anything except Accept-Encoding', () => {
    expect(reason({ headers: [['Vary', 'Accept-Encoding, Cookie']] })).toBe('vary');
    expect(reason({ headers: [['Vary', '*']] })).toBe('vary');
    const two = [
      ['Vary', 'accept-encoding'],
      ['vary', 'Authorization'],
    ] as const;
    expect(reason({ headers: two })).toBe('vary');
    expect(reason({ headers: [['Vary', 'Accept-Encoding']] })).toBe('stored');
  });

  it('may vary by Accept-Encoding, in any case and with empty members', () => {
    expect(reason({ headers: [['vary', ' ACCEPT-ENCODING ,, accept-encoding,']] })).toBe('stored');
    expect(reason({ headers: [['Vary', '']] })).toBe('stored');
  });

  // Portico has removed the codings that it knows, so the body of such a response is unreadable.
  it('never has a content coding', () => {
    expect(reason({ headers: [['Content-Encoding', 'br']] })).toBe('content-coding');
  });

  it.each(['text/html', 'application/problem+json', undefined])('never has the media type %s', (mediaType) => {
    expect(reason({ mediaType })).toBe('media-type');
  });

  const table: readonly (readonly [StoreRule, Readonly<Record<Validity, boolean>>])[] = [
    ['valid', { valid: true, accepted: false, violations: false, skipped: false, off: false }],
    ['accepted', { valid: true, accepted: true, violations: false, skipped: false, off: true }],
    ['wellFormed', { valid: true, accepted: true, violations: true, skipped: false, off: true }],
  ];
  it.each(table)('has one of the verdicts for store: %s', (store, verdicts) => {
    const options = { ...DEFAULT_CACHE_OPTIONS, store };
    for (const [validity, stored] of Object.entries(verdicts)) {
      const expected = stored ? 'stored' : 'validity';
      expect([validity, reason({ options, validity: validity as Validity })]).toEqual([validity, expected]);
    }
  });

  it('has the documented envelope if it is not valid', () => {
    expect(reason({ validity: 'off', isEnvelope: false })).toBe('outer-form');
    const options = { ...DEFAULT_CACHE_OPTIONS, store: 'wellFormed' } as const;
    expect(reason({ validity: 'violations', isEnvelope: false, options })).toBe('outer-form');
  });

  it.each(['no-store', 'private', 'no-cache', 'private="x-user"', 'max-age=0', 's-maxage=0, max-age=60'])(
    'is what the upstream allows with Cache-Control: %s, only with respectUpstream',
    (value) => {
      const headers = [['Cache-Control', value]] as const;
      expect(reason({ headers })).toBe('stored');
      expect(reason({ headers, options: { ...DEFAULT_CACHE_OPTIONS, respectUpstream: true } })).toBe(
        'upstream-directive',
      );
    },
  );

  it('may specify its own lifetime with respectUpstream', () => {
    const options = { ...DEFAULT_CACHE_OPTIONS, respectUpstream: true };
    expect(reason({ headers: [['Cache-Control', 'public, max-age=60']], options })).toBe('stored');
    expect(reason({ headers: [['Expires', '0']], options })).toBe('upstream-directive');
  });
});

describe('freshness', () => {
  const now = Date.parse('Thu, 05 Nov 2026 10:00:00 GMT');
  const respecting = { ...DEFAULT_CACHE_OPTIONS, respectUpstream: true };
  const fresh = (...headers: HeaderPairs) => freshnessFor(headers, respecting, now).freshSeconds;
  const stale = (value: string) => freshnessFor([['Cache-Control', value]], respecting, now);

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
    const ahead = ['Date', 'Thu, 05 Nov 2026 11:00:00 GMT'] as const;
    expect(fresh(['Expires', 'Thu, 05 Nov 2026 11:00:20 GMT'], ahead)).toBe(20);
    const rfc850 = ['Date', 'Thursday, 05-Nov-26 11:00:00 GMT'] as const;
    expect(fresh(['Expires', 'Thu Nov  5 11:00:20 2026'], rfc850)).toBe(20);
  });

  it.each(['0', '-1', 'soon', '', '2026-11-05', 'Nov 5 2027', 'Thu, 05 Nov 2026 09:59:59 GMT'])(
    'is zero with Expires: %s',
    (expires) => {
      expect(fresh(['Expires', expires])).toBe(0);
    },
  );

  it("is shortened by the upstream's Age", () => {
    expect(fresh(['Cache-Control', 'max-age=60'], ['Age', '50'])).toBe(10);
    expect(fresh(['Cache-Control', 'max-age=60'], ['Age', '70'])).toBe(0);
    expect(upstreamAge([['Age', 'x']])).toBe(0);
  });

  it('is shortened by the time since Date, or by Age if that is greater', () => {
    const old = ['Date', 'Thu, 05 Nov 2026 09:59:40 GMT'] as const;
    expect(fresh(['Cache-Control', 'max-age=60'], old)).toBe(40);
    expect(fresh(['Cache-Control', 'max-age=60'], old, ['Age', '50'])).toBe(10);
    expect(fresh(['Cache-Control', 'max-age=60'], old, ['Age', '5'])).toBe(40);
    expect(fresh(['Cache-Control', 'max-age=15'], old)).toBe(0);
    expect(fresh(['Expires', 'Thu, 05 Nov 2026 10:00:40 GMT'], old)).toBe(40);
    expect(fresh(['Cache-Control', 'max-age=60'], ['Date', 'Thu, 05 Nov 2026 10:00:40 GMT'])).toBe(60);
  });

  const LIVE = ['Cache-Control', 'max-age=60'] as const;
  const DATE = ['Date', 'Thu, 05 Nov 2026 10:00:00 GMT'] as const;
  it.each<readonly [string, HeaderPairs]>([
    ['an invalid Date', [LIVE, ['Date', 'yesterday']]],
    ['an empty Date', [LIVE, ['Date', '']]],
    ['a Date that does not exist', [LIVE, ['Date', 'Sat, 31 Feb 2026 10:00:00 GMT']]],
    ['two Dates', [LIVE, DATE, ['Date', 'Thu, 05 Nov 2026 09:00:00 GMT']]],
    ['an invalid Age', [LIVE, ['Age', 'x']]],
    ['a negative Age', [LIVE, ['Age', '-1']]],
    ['two Ages', [LIVE, ['Age', '1'], ['Age', '2']]],
    ['a list of Ages', [LIVE, ['Age', '1, 2']]],
    ['an Age that overflows', [LIVE, ['Age', '99999999999999999999']]],
    [
      'two Expires',
      [
        ['Expires', 'Thu, 05 Nov 2026 10:01:00 GMT'],
        ['Expires', 'Thu, 05 Nov 2026 10:02:00 GMT'],
      ],
    ],
    ['an invalid Date, even without a lifetime', [['Date', 'yesterday']]],
  ])('is zero with %s', (_what, headers) => {
    expect(fresh(...headers)).toBe(0);
    expect(freshnessFor(headers, DEFAULT_CACHE_OPTIONS, now).freshSeconds).toBe(30);
  });

  it('cannot be longer than the longest, which is a day or more with respectUpstream', () => {
    const configured = { freshSeconds: 30, staleWhileRevalidateSeconds: 200_000, staleIfErrorSeconds: 300 };
    const longest = { freshSeconds: 86_400, staleWhileRevalidateSeconds: 200_000, staleIfErrorSeconds: 86_400 };
    expect(longestFreshness({ ...configured, respectUpstream: false })).toEqual(configured);
    expect(longestFreshness({ ...configured, respectUpstream: true })).toEqual(longest);
  });

  it('ignores Expires if there is a max-age', () => {
    expect(fresh(LIVE, ['Expires', '0'], ['Expires', 'soon'])).toBe(60);
  });

  it('is at most a day', () => {
    for (const seconds of ['9999999999', '99999999999', '9'.repeat(400), '"9999999999"'])
      expect(fresh(['Cache-Control', `max-age=${seconds}`])).toBe(86_400);
  });

  it('excludes stale use if the upstream requires revalidation, and respects RFC 5861', () => {
    expect(stale('max-age=5, must-revalidate')).toMatchObject({
      staleWhileRevalidateSeconds: 0,
      staleIfErrorSeconds: 0,
    });
    expect(stale('proxy-revalidate')).toMatchObject({ staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 });
    expect(stale('stale-while-revalidate=99999, stale-if-error=99999')).toMatchObject({
      staleWhileRevalidateSeconds: 86_400,
      staleIfErrorSeconds: 86_400,
    });
    expect(stale('s-maxage=5')).toMatchObject({ staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 });
    expect(stale('max-age=5, stale-while-revalidate=7, stale-if-error=9')).toMatchObject({
      staleWhileRevalidateSeconds: 7,
      staleIfErrorSeconds: 9,
    });
    expect(stale('max-age=5')).toMatchObject({ staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 });
  });
});

describe('Cache-Control', () => {
  const read = (...values: string[]) => cacheDirectives(values.map((value) => ['Cache-Control', value]));

  it('is parsed case-insensitively, across several headers, with quoted and plain arguments', () => {
    const directives = read('No-Store, max-age=60', 'private="set-cookie, no-cache", S-MaxAge="5"');
    expect([...directives.keys()]).toEqual(['no-store', 'max-age', 'private', 's-maxage']);
    expect(directiveSeconds(directives, 's-maxage')).toBe(5);
  });

  it('is parsed past an invalid member', () => {
    expect(read('max-age=60;x, @@, no-store').has('no-store')).toBe(true);
  });

  it('returns the smallest of several ages, and 0 for an invalid one', () => {
    expect(directiveSeconds(read('max-age=60, max-age=5'), 'max-age')).toBe(5);
    expect(directiveSeconds(read('max-age=-1'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age=1e3'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('no-store'), 'max-age')).toBeUndefined();
  });
});

describe("a client's no-cache", () => {
  const asks = (cacheControl?: string, pragma?: string) => ({ cacheControl, pragma });

  it('is ignored unless a role of the caller allows it', () => {
    expect(mayBypass(asks('no-cache'), ['standard'], [])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard'], ['operators'])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard', 'operators'], ['operators'])).toBe(true);
  });

  it.each(['no-cache', 'No-Cache', 'no-store', 'max-age=0', 'foo, no-cache'])('can be sent as %s', (value) => {
    expect(mayBypass(asks(value), ['operators'], ['operators'])).toBe(true);
  });

  it('can be sent as Pragma only without Cache-Control', () => {
    expect(mayBypass(asks(undefined, 'no-cache'), ['operators'], ['operators'])).toBe(true);
    expect(mayBypass(asks('max-age=60', 'no-cache'), ['operators'], ['operators'])).toBe(false);
  });

  it.each(['foo, no-cache', 'No-Cache , foo', ' no-cache '])('can be sent as Pragma: %s', (pragma) => {
    expect(mayBypass(asks(undefined, pragma), ['operators'], ['operators'])).toBe(true);
  });

  it.each(['no-cache-x', 'xno-cache', 'no cache', ''])('is not inferred from Pragma: %s', (pragma) => {
    expect(mayBypass(asks(undefined, pragma), ['operators'], ['operators'])).toBe(false);
  });

  it('is not inferred from other directives', () => {
    expect(mayBypass(asks('max-age=60'), ['operators'], ['operators'])).toBe(false);
    expect(mayBypass(asks(), ['operators'], ['operators'])).toBe(false);
  });
});
