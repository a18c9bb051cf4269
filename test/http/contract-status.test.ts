import { describe, expect, it } from 'vitest';
import { contractStatus } from '../../src/http/contract-status.ts';
import type { Violation } from '../../src/model/violation.ts';

const violation = (category: Violation['category']) => ({ category }) as Violation;

describe('Contract-Status', () => {
  it('says that nothing was found', () => {
    expect(contractStatus({ violations: [] })).toBe('conforming');
  });

  it('counts violations and names the worst category', () => {
    const violations = [violation('semantic'), violation('missing'), violation('type')];
    expect(contractStatus({ violations })).toBe('violations; count=3; worst=missing');
  });

  it('says why an answer was not checked, as a harmless token', () => {
    const responses = { level: 'report', outcome: 'skipped', verdict: 'skipped', reason: 'too large\r\nX: y' } as const;
    expect(contractStatus({ violations: [], responses })).toBe('conforming; skipped=too-large-X-y');
  });
});
