import { describe, expect, it } from 'vitest';
import { DEFAULT_CACHE_OPTIONS, type StoreRule } from '../../src/cache/cache-options.ts';
import { mayStore, type StoreCandidate, type Validity } from '../../src/cache/may-store.ts';

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
const reason = (changes: Partial<StoreCandidate>) => {
  const verdict = mayStore(candidate(changes));
  return verdict.store ? 'stored' : verdict.reason;
};

describe('a response that may be stored', () => {
  it('is a valid 200', () => {
    expect(mayStore(candidate())).toEqual({ store: true });
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
      expect([validity, mayStore(candidate({ options, validity: validity as Validity })).store]).toEqual([
        validity,
        stored,
      ]);
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
