import { describe, expect, it } from 'vitest';
import { addEdgeHeaders, contractStatus, type EdgeHeaderOptions } from '../../src/http/edge-headers.ts';
import type { Trace } from '../../src/model/trace.ts';
import type { Violation } from '../../src/model/violation.ts';
import { traceWith, violationWith } from '../builders/exchange.ts';

const options = { contractStatusHeader: true, reportIdOf: () => 'a1' };
const edgeHeaders = (trace: Trace, given: EdgeHeaderOptions, present: readonly string[] = []) => {
  const headers = [...present];
  addEdgeHeaders(headers, trace, given);
  return headers.slice(present.length);
};
const names = (...given: Parameters<typeof edgeHeaders>) => edgeHeaders(...given).filter((_, at) => at % 2 === 0);
const checked = traceWith({ responses: { level: 'report', outcome: 'passed', verdict: 'valid' } });

describe('the edge headers', () => {
  it('name the gateway and the request', () => {
    expect(edgeHeaders(traceWith(), options)).toEqual(['Via', '1.1 portico', 'X-Request-Id', 'request-1']);
  });

  it('keep a request id that the response already has', () => {
    expect(names(traceWith(), options, ['x-request-id', 'theirs'])).toEqual(['Via']);
  });

  it('report the contract verdict if the exchange was checked and the verdict may be shown', () => {
    expect(names(checked, options)).toContain('Contract-Status');
    expect(names(Object.assign(traceWith(), { violations: [violationWith()] }), options)).toContain('Contract-Status');
    expect(names(traceWith(), options)).not.toContain('Contract-Status');
    expect(names(checked, { ...options, contractStatusHeader: false })).not.toContain('Contract-Status');
  });

  // The attack: a violation that the ledger cannot name. The finished response would have become a 500.
  it('leave out a verdict that cannot be written', () => {
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
