import { describe, expect, it } from 'vitest';
import type { Violation } from '../../../src/model/violation.ts';
import { contractDifferences } from '../../../src/pipeline/shadow/compare-contracts.ts';

const at = (place: string, schemaPath = 'a'): Violation => ({
  check: 'responses',
  direction: 'response',
  category: 'type',
  location: 'body',
  at: place,
  keyword: 'type',
  schemaPath,
  message: '',
});
const told = (violations: readonly Violation[], reported: readonly Violation[] = [], more = false) => ({
  violations,
  reported,
  more,
});
const short = (found: readonly Violation[]) => found.map(({ at: place, candidate }) => `${place} ${candidate ?? ''}`);

describe('the differences between the verdicts of two contracts', () => {
  it('are the violations that only one of them finds', () => {
    expect(short(contractDifferences(told([at('/a'), at('/b')]), told([at('/b'), at('/c')])))).toEqual([
      '/c newly-refused',
      '/a newly-accepted',
    ]);
  });

  it('do not include where in the contract a violation is found', () => {
    expect(contractDifferences(told([at('/a', 'one')]), told([at('/a', 'two')]))).toEqual([]);
  });

  it('include that counted violations would be refused, and the reverse', () => {
    expect(short(contractDifferences(told([], [at('/a')]), told([at('/a')])))).toEqual(['/a newly-refused']);
    expect(short(contractDifferences(told([at('/a')]), told([], [at('/a')])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([], [at('/a')]), told([])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([]), told([], [at('/a')])))).toEqual(['/a newly-refused']);
  });

  it('leave out violations that were not collected', () => {
    expect(short(contractDifferences(told([at('/a')], [], true), told([at('/b')])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([at('/a')]), told([at('/b')], [], true)))).toEqual(['/b newly-refused']);
  });

  it('do not modify their inputs', () => {
    const one = Object.freeze(at('/a'));
    contractDifferences(told([one]), told([]));
    expect(one.candidate).toBeUndefined();
  });
});
