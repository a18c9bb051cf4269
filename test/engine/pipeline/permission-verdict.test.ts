import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/engine/model/operation.ts';
import { permissionMismatch, traceDecision } from '../../../src/engine/pipeline/permission-verdict.ts';
import { traceWith } from '../../builders/exchange.ts';

const ALLOWED: Decision = { verdict: 'allowed', because: 'See things' };
const DELEGATED: Decision = { verdict: 'delegated', because: 'ownership' };

describe('permission violations', () => {
  const PROFILE_DENIED: Decision = { verdict: 'denied', missing: ["View user's profile", 'See more'] };

  describe('a decision in the trace', () => {
    it.each([
      [ALLOWED, 'enforce', 'passed'],
      [PROFILE_DENIED, 'enforce', 'refused'],
      [PROFILE_DENIED, 'report', 'reported'],
      [DELEGATED, 'enforce', 'skipped'],
    ] as const)('%o at %s is %s', (decision, level, outcome) => {
      const trace = traceWith();
      traceDecision(trace, level, decision);
      expect(trace.permissions).toMatchObject({ level, outcome, decision });
    });

    it('is a request violation if it denies, at the permission that is closest to sufficient', () => {
      const trace = traceWith();
      traceDecision(trace, 'report', PROFILE_DENIED);
      expect(trace.violations).toEqual([
        {
          check: 'permissions',
          direction: 'request',
          category: 'permission',
          location: 'header',
          at: "View user's profile",
          keyword: 'permission-denied',
          schemaPath: '',
          message: 'The roles file denies this request.',
        },
      ]);
    });

    it('is a request violation at all alternatives if any of them would suffice', () => {
      const trace = traceWith();
      const missing = ['admin', 'superuser'];
      traceDecision(trace, 'report', { verdict: 'denied', missing, alternatives: missing });
      expect(trace.violations).toMatchObject([{ keyword: 'permission-denied', at: 'admin or superuser' }]);
    });

    it('is not a violation if it allows or leaves the decision to the upstream', () => {
      const trace = traceWith();
      for (const decision of [ALLOWED, DELEGATED]) traceDecision(trace, 'enforce', decision);
      expect(trace.violations).toEqual([]);
    });
  });

  describe('a mismatch of two verdicts', () => {
    it('names who denied', () => {
      expect(permissionMismatch(true)).toMatchObject({ category: 'permission-mismatch', keyword: 'upstream-denied' });
      expect(permissionMismatch(false)).toMatchObject({ direction: 'response', keyword: 'upstream-allowed' });
    });
  });
});
