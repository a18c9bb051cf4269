import { describe, expect, it } from 'vitest';
import {
  type BrownoutDecision,
  decisionsFrom,
  decisionsJson,
  mergeDecisions,
  readDecision,
} from '../../../src/features/deprecation/revocations.ts';

const decision = (at: number, isRevoked: boolean, brownout = 'b1'): BrownoutDecision => ({
  brownout,
  isRevoked,
  reason: 'INC-17',
  by: 'ann',
  from: '127.0.0.1',
  at,
  until: 5000,
});
const mapOf = (...all: readonly BrownoutDecision[]) => new Map(all.map((one) => [one.brownout, one]));

describe('decisions of two gateways', () => {
  it.each([
    ['later', decision(2, false), decision(1, true), false],
    ['later', decision(1, false), decision(2, true), true],
    ['lenient of two at the same time', decision(1, false), decision(1, true), true],
  ])('merge to the %s one, whoever merges', (_, one, other, isRevoked) => {
    for (const merged of [mergeDecisions(mapOf(one), mapOf(other)), mergeDecisions(mapOf(other), mapOf(one))])
      expect(merged.get('b1')?.isRevoked).toBe(isRevoked);
  });

  it('keep those about other brown-outs', () => {
    expect([...mergeDecisions(mapOf(decision(1, true)), mapOf(decision(1, true, 'b2'))).keys()]).toEqual(['b1', 'b2']);
  });
});

describe('stored decisions', () => {
  it('are read as they were', () => {
    const decisions = mapOf(decision(1000, true, 'b2'), { ...decision(2000, false), by: undefined });
    expect(decisionsFrom(JSON.parse(JSON.stringify(decisionsJson(decisions))), 'decisions')).toEqual(decisions);
  });

  it.each([
    [{}, 'decisions must be a list'],
    [[1], 'decisions[0] must be an object'],
    [[{ brownout: 'b1' }], 'decisions[0] must name a brown-out'],
    [[{ brownout: 'b1', isRevoked: true, reason: 'a\nb' }], 'decisions[0].reason must be one line'],
    [[{ brownout: 'b1', isRevoked: true, reason: 'password=hunter2secret' }], 'decisions[0].reason must be one line'],
    [[{ brownout: 'b1', isRevoked: true, reason: 'INC', at: 'now' }], 'decisions[0].at must be an instant'],
  ])('are refused if they are damaged: %#', (value, message) => {
    expect(() => decisionsFrom(value, 'decisions')).toThrow(message);
  });
});

describe('a request for a decision', () => {
  const read = (body: unknown, at = 1000) =>
    readDecision(body, new Map([['b1', { to: 5000 }]]), {
      isRevoked: true,
      origin: { actor: 'operator', by: 'ann', from: '127.0.0.1', way: 'console' },
      at,
    });

  it('is made by the operator who signed in, unless it names somebody', () => {
    expect(read({ brownout: 'b1', reason: 'INC-17' })).toEqual(decision(1000, true));
    expect(read({ brownout: 'b1', reason: 'INC-17', by: 'bob' })).toMatchObject({ by: 'bob' });
  });

  it('is refused once the brown-out is over', () => {
    expect(read({ brownout: 'b1', reason: 'INC-17' }, 4999)).toMatchObject({ brownout: 'b1' });
    expect(read({ brownout: 'b1', reason: 'INC-17' }, 5000)).toEqual([
      { field: 'brownout', message: 'This brown-out is over.' },
    ]);
  });

  it('is told all of its errors at once', () => {
    const faults = read({ brownout: 7, reason: '', by: 'a\tb' });
    expect(faults).toMatchObject([{ field: 'brownout' }, { field: 'reason' }, { field: 'by' }]);
    expect(read('text')).toEqual([{ field: '', message: 'Send a JSON object.' }]);
  });
});
