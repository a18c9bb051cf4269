import { describe, expect, it } from 'vitest';
import { contractStatus, edgeHeaders } from '../../src/http/edge-headers.ts';
import type { Violation } from '../../src/model/violation.ts';
import { traceWith, violationWith } from '../builders/exchange.ts';

const options = { contractStatusHeader: true, reportIdOf: () => 'a1' };
const names = (...given: Parameters<typeof edgeHeaders>) => edgeHeaders(...given).map(([name]) => name);
const checked = traceWith({ responses: { level: 'report', outcome: 'passed', verdict: 'valid' } });

describe('the headers of the edge', () => {
  it('name the gateway and the request', () => {
    expect(edgeHeaders(traceWith(), options)).toEqual([
      ['Via', '1.1 portico'],
      ['X-Request-Id', 'request-1'],
    ]);
  });

  it('leave the request id that the response has already', () => {
    expect(names(traceWith(), options, [['x-request-id', 'theirs']])).toEqual(['Via']);
  });

  it('say how the exchange stands against the contract, where it was checked and may be said', () => {
    expect(names(checked, options)).toContain('Contract-Status');
    expect(names(Object.assign(traceWith(), { violations: [violationWith()] }), options)).toContain('Contract-Status');
    expect(names(traceWith(), options)).not.toContain('Contract-Status');
    expect(names(checked, { ...options, contractStatusHeader: false })).not.toContain('Contract-Status');
  });

  // The attack: a violation that the ledger cannot name. The response was ready and would have become a 500.
  it('leave the verdict out where it cannot be written', () => {
    const trace = traceWith({ violations: [violationWith()] });
    const mistake = new RangeError('Maximum call stack size exceeded');
    const reportIdOf = () => {
      throw mistake;
    };
    expect(names(trace, { ...options, reportIdOf })).toEqual(['Via', 'X-Request-Id']);
    expect(trace.cause).toBe(mistake);
  });
});

const violation = (category: Violation['category']) => ({ category }) as Violation;

const reportIdOf = (_trace: unknown, { category }: Violation) => `id-of-${category}`;

describe('Contract-Status', () => {
  it('says that nothing was found', () => {
    expect(contractStatus({ violations: [] }, reportIdOf)).toBe('conforming');
  });

  it('counts violations and names the worst category', () => {
    const violations = [violation('semantic'), violation('missing'), violation('type')];
    expect(contractStatus({ violations }, reportIdOf)).toBe('violations; count=3; worst=missing; report=id-of-missing');
  });

  it('says that a check broke', () => {
    const responses = { level: 'report', outcome: 'failed', verdict: 'skipped', reason: 'error' } as const;
    expect(contractStatus({ violations: [], responses }, reportIdOf)).toBe('conforming; skipped=error');
  });

  it('says why a response was not checked, as a harmless token', () => {
    const responses = { level: 'report', outcome: 'skipped', verdict: 'skipped', reason: 'too large\r\nX: y' } as const;
    expect(contractStatus({ violations: [], responses }, reportIdOf)).toBe('conforming; skipped=too-large-X-y');
  });
});
