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

describe('the differences between what two contracts say', () => {
  it('are what only one of them says', () => {
    expect(short(contractDifferences(told([at('/a'), at('/b')]), told([at('/b'), at('/c')])))).toEqual([
      '/c newly-refused',
      '/a newly-accepted',
    ]);
  });

  it('are not where in the contract it is said', () => {
    expect(contractDifferences(told([at('/a', 'one')]), told([at('/a', 'two')]))).toEqual([]);
  });

  it('are also that what was counted would be refused, and the other way round', () => {
    expect(short(contractDifferences(told([], [at('/a')]), told([at('/a')])))).toEqual(['/a newly-refused']);
    expect(short(contractDifferences(told([at('/a')]), told([], [at('/a')])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([], [at('/a')]), told([])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([]), told([], [at('/a')])))).toEqual(['/a newly-refused']);
  });

  it('are not told of what was not collected', () => {
    expect(short(contractDifferences(told([at('/a')], [], true), told([at('/b')])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(told([at('/a')]), told([at('/b')], [], true)))).toEqual(['/b newly-refused']);
  });

  it('leave what they are made from alone', () => {
    const one = Object.freeze(at('/a'));
    contractDifferences(told([one]), told([]));
    expect(one.candidate).toBeUndefined();
  });
});
