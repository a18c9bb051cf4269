import { describe, expect, it } from 'vitest';
import { JUDGED_NAMES } from '../../../src/engine/model/checks.ts';
import { createTrace, eachVerdict, toVerdict } from '../../../src/engine/model/trace.ts';
import { violationWith } from '../../builders/exchange.ts';

describe('the verdicts of a trace', () => {
  const empty = () => createTrace({ requestId: 'one', traceparent: '', method: 'GET', startedAt: 0 });
  const visited = (trace: ReturnType<typeof empty>) => {
    const found: unknown[] = [];
    eachVerdict(trace, (name, verdict) => found.push([name, verdict]));
    return found;
  };

  it('are those of all checks and of the translation of errors, in their order', () => {
    const verdicts = JUDGED_NAMES.map((name) => [name, { level: 'report', outcome: 'passed', reason: name }] as const);
    expect(visited(Object.assign(empty(), Object.fromEntries(verdicts)))).toEqual(verdicts);
  });

  it('are none in a new trace, which has a property for each', () => {
    expect(visited(empty())).toEqual([]);
    expect(Object.keys(empty())).toEqual(expect.arrayContaining([...JUDGED_NAMES]));
  });
});

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
