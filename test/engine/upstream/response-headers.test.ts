import { describe, expect, it } from 'vitest';
import { createResponseHeaders, isReservedHeader } from '../../../src/engine/upstream/response-headers.ts';
import { UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';

const rules = createResponseHeaders([...UPSTREAM_DEFAULTS.responseHeaders, 'X-RateLimit-Remaining']);
const named = (...names: string[]) => names.map((name) => [name, 'x'] as const);
const namesOf = (headers: readonly (readonly [string, string])[]) => headers.map(([name]) => name);

const LISTED = ['Content-Language', 'Link', 'Deprecation', 'Sunset', 'x-total-count', 'X-RATELIMIT-REMAINING'];
const OWN = ['Content-Encoding', 'Location', 'Retry-After', 'WWW-Authenticate'];
const REMOVED = ['Set-Cookie', 'ETag', 'Last-Modified', 'Cache-Control', 'Expires', 'Age', 'Date', 'Vary'];
const SERVER = ['Server', 'X-Powered-By', 'X-Frame-Options', 'Strict-Transport-Security'];
const OTHERS = ['X-AUSERNAME', 'Access-Control-Allow-Origin', 'X-Content-Type'];

describe('the headers of a response', () => {
  const all = named('content-type', ...LISTED, ...OWN, ...REMOVED, ...SERVER, ...OTHERS);

  it('that clients receive are the content type, the listed ones, and those of a single response', () => {
    expect(namesOf(rules.visible(all))).toEqual(['content-type', ...LISTED, ...OWN]);
  });

  it('that are stored are the content type and the same listed ones, with their case and order', () => {
    expect(namesOf(rules.stored(all))).toEqual(['content-type', ...LISTED]);
  });

  it('that clients may miss are all others, except those that Portico replaces or that only describe the server', () => {
    const repeated = named('X-AUSERNAME', 'x-ausername');
    expect(rules.dropped([...all, ...repeated])).toEqual(OTHERS.map((name) => name.toLowerCase()));
    expect(rules.dropped(named('Content-Type', ...LISTED, ...REMOVED))).toEqual([]);
  });

  it('that Portico itself decides about cannot be listed', () => {
    for (const name of [...OWN, ...REMOVED, 'content-length', 'Transfer-Encoding'])
      expect(isReservedHeader(name)).toBe(true);
    for (const name of [...LISTED, ...OTHERS]) expect(isReservedHeader(name)).toBe(false);
  });
});
