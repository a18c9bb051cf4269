import { describe, expect, it } from 'vitest';
import { isPermissionDenial } from '../../src/pipeline/permission-denial.ts';
import { operationWith } from '../builders/exchange.ts';

const isMessage = (message: string) => message.includes('permission');
const denies = (status: number, body: string) =>
  isPermissionDenial(operationWith(), { status, headers: [], body: Buffer.from(body) }, isMessage);

describe('a denial of permission', () => {
  it.each([
    [401, '{"error":"no permission"}', true],
    [401, '{"errors":{"message":"no permission"}}', true],
    [403, '{"error":"no permission"}', true],
    [403, '{"error":"whatever"}', true],
    [401, '{"error":"whatever"}', false],
    [401, '', false],
    [403, '<html>', false],
    [400, '{"error":"no permission"}', false],
    [200, '{"error":"no permission"}', false],
  ])('%i %s is one: %s', (status, body, expected) => {
    expect(denies(status, body)).toBe(expected);
  });
});
