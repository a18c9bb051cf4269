import { describe, expect, it } from 'vitest';
import { edgeFields } from '../../src/http/edge-fields.ts';
import { traceWith, violationWith } from '../builders/exchange.ts';

const options = { contractStatusHeader: true, reportIdOf: () => 'a1' };
const names = (...given: Parameters<typeof edgeFields>) => edgeFields(...given).map(([name]) => name);
const checked = traceWith({ responses: { level: 'report', outcome: 'passed', verdict: 'valid' } });

describe('the fields of the edge', () => {
  it('name the gateway and the request', () => {
    expect(edgeFields(traceWith(), options)).toEqual([
      ['Via', '1.1 portico'],
      ['X-Request-Id', 'request-1'],
    ]);
  });

  it('leave the request id that the answer has already', () => {
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
