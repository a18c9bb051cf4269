import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/model/requirement.ts';
import { isPermissionDenial, permissionMismatch, traceDecision } from '../../src/pipeline/permission-violation.ts';
import { operationWith, traceWith } from '../builders/exchange.ts';

describe('permission violation', () => {
  const ALLOWED: Decision = { verdict: 'allowed', because: 'See things' };
  const DENIED: Decision = { verdict: 'denied', missing: ["View user's profile", 'See more'] };
  const DELEGATED: Decision = { verdict: 'delegated', because: 'ownership' };

  describe('a decision in the trace', () => {
    it.each([
      [ALLOWED, 'enforce', 'passed'],
      [DENIED, 'enforce', 'refused'],
      [DENIED, 'report', 'reported'],
      [DELEGATED, 'enforce', 'skipped'],
    ] as const)('%o at %s is %s', (decision, level, outcome) => {
      const trace = traceWith();
      traceDecision(trace, level, decision);
      expect(trace.permissions).toMatchObject({ level, outcome, decision });
    });

    it('is a violation of the request when it denies, at the permission that is nearest to being enough', () => {
      const trace = traceWith();
      traceDecision(trace, 'report', DENIED);
      expect(trace.violations).toEqual([
        {
          check: 'permissions',
          direction: 'request',
          category: 'semantic',
          location: 'header',
          at: "View user's profile",
          keyword: 'permission-denied',
          schemaPath: '',
          message: 'The roles file denies this caller what it asks for.',
        },
      ]);
    });

    it('is none when it allows or leaves it to the upstream', () => {
      const trace = traceWith();
      for (const decision of [ALLOWED, DELEGATED]) traceDecision(trace, 'enforce', decision);
      expect(trace.violations).toEqual([]);
    });
  });

  describe('a mismatch of two verdicts', () => {
    it('says whose was no', () => {
      expect(permissionMismatch(true)).toMatchObject({ category: 'permission-mismatch', keyword: 'upstream-denied' });
      expect(permissionMismatch(false)).toMatchObject({ direction: 'response', keyword: 'upstream-allowed' });
    });
  });
});

describe('a denial of permission', () => {
  const isMessage = (message: string) => message.includes('permission');
  const denies = (status: number, body: string) =>
    isPermissionDenial(operationWith(), { status, headers: [], body: Buffer.from(body) }, isMessage);

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
