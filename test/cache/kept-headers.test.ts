import { describe, expect, it } from 'vitest';
import { CLIENT_CACHE_HEADERS } from '../../src/cache/client-cache-headers.ts';
import { keptHeaders } from '../../src/cache/kept-headers.ts';

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
