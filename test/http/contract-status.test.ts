import { describe, expect, it } from 'vitest';
import { contractStatus } from '../../src/http/contract-status.ts';
import type { Violation } from '../../src/model/violation.ts';

const violation = (category: Violation['category']) => ({ category }) as Violation;

const reportIdOf = (_trace: unknown, { category }: Violation) => `id-of-${category}`;

describe('Contract-Status', () => {
  it('reports that no violation was found', () => {
    expect(contractStatus({ violations: [] }, reportIdOf)).toBe('conforming');
  });

  it('counts violations and names the worst category', () => {
    const violations = [violation('semantic'), violation('missing'), violation('type')];
    expect(contractStatus({ violations }, reportIdOf)).toBe('violations; count=3; worst=missing; report=id-of-missing');
  });

  it('reports that a check threw', () => {
    const responses = { level: 'report', outcome: 'failed', verdict: 'skipped', reason: 'error' } as const;
    expect(contractStatus({ violations: [], responses }, reportIdOf)).toBe('conforming; skipped=error');
  });

  it('gives the reason why a response was not checked, as a harmless token', () => {
    const responses = { level: 'report', outcome: 'skipped', verdict: 'skipped', reason: 'too large\r\nX: y' } as const;
    expect(contractStatus({ violations: [], responses }, reportIdOf)).toBe('conforming; skipped=too-large-X-y');
  });
});
