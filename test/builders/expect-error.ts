import { expect } from 'vitest';
import { anyList, anyText, textLike } from '../reference/matchers.ts';
import type { ClientResponse } from './call.ts';

/** Expects the usual form of Portico's errors: a request id, `no-store`, and no markup. */
export function expectError(response: ClientResponse, status: number, code: string): void {
  expect(response.json).toMatchObject({ code, status, error: anyText, details: anyList });
  expect(response.status).toBe(status);
  expect(response.json.requestId).toBe(response.headers['x-request-id']);
  expect(response.json.error).not.toMatch(/<|&\w+;/);
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(response.bytes.length),
    'cache-control': 'no-store',
    'x-request-id': textLike(/^[\w-]{8,}$/),
    via: '1.1 portico',
  });
  const { 'www-authenticate': challenge } = response.headers;
  // A 403 names the reason to the holder of a token (RFC 6750 §3.1).
  const asksForMore = status === 403 && challenge === 'Bearer realm="Portico", error="insufficient_scope"';
  expect(challenge !== undefined && !asksForMore, 'a challenge only with 401').toBe(status === 401);
  expect(response.headers.allow !== undefined, 'Allow only with 405').toBe(status === 405);
}
