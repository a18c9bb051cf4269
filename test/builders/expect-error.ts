import { expect } from 'vitest';
import { anyList, anyText, textLike } from '../reference/matchers.ts';
import type { Answer } from './call.ts';

/** Expects the usual form of Portico's errors: a request id, `no-store`, and no markup. */
export function expectError(answer: Answer, status: number, code: string): void {
  expect(answer.json).toMatchObject({ code, status, error: anyText, details: anyList });
  expect(answer.status).toBe(status);
  expect(answer.json.requestId).toBe(answer.headers['x-request-id']);
  expect(answer.json.error).not.toMatch(/<|&\w+;/);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(answer.bytes.length),
    'cache-control': 'no-store',
    'x-request-id': textLike(/^[\w-]{8,}$/),
    via: '1.1 portico',
  });
  expect(answer.headers['www-authenticate'] !== undefined, 'a challenge only with 401').toBe(status === 401);
  expect(answer.headers.allow !== undefined, 'Allow only with 405').toBe(status === 405);
}
