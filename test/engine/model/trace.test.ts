import { describe, expect, it } from 'vitest';
import { toVerdict } from '../../../src/engine/model/trace.ts';
import { violationWith } from '../../builders/exchange.ts';

describe('verdict', () => {
  it.each([
    ['off', 1, 'skipped'],
    ['report', 0, 'passed'],
    ['report', 1, 'reported'],
    ['enforce', 0, 'passed'],
    ['enforce', 1, 'refused'],
  ] as const)('a check at %s that found %i violations is %s', (level, count, outcome) => {
    expect(
      toVerdict(
        level,
        Array.from({ length: count }, () => violationWith()),
      ),
    ).toMatchObject({ level, outcome });
  });
});
