import { describe, expect, it } from 'vitest';
import { createKindOf } from '../../../src/engine/model/violation-kind.ts';
import type { Violation } from '../../../src/engine/model/violation.ts';

const violation: Violation = {
  check: 'responses',
  direction: 'response',
  category: 'undocumented',
  location: 'body',
  at: '/list/3/reactionCount',
  keyword: 'undocumented-field',
  schemaPath: '',
  message: '/list/3/reactionCount is not documented',
};

describe('the kind of a violation', () => {
  it('is the same object for the same violation, operation and status', () => {
    const kindOf = createKindOf();
    const kind = kindOf('getQuestions', 200, violation);
    expect(kind.at).toBe('/list/*/reactionCount');
    expect(kindOf('getQuestions', 200, violation)).toBe(kind);
  });

  it('depends on the operation and the status, even for the same object', () => {
    const kindOf = createKindOf();
    const kinds = [
      kindOf('getQuestions', 200, violation),
      kindOf('getArticles', 200, violation),
      kindOf('getQuestions', 201, violation),
      kindOf(undefined, undefined, violation),
    ];
    expect(new Set(kinds.map(({ fingerprint }) => fingerprint)).size).toBe(4);
    expect(kindOf('getQuestions', 200, violation)).toBe(kinds[0]);
  });

  it('is found for more violations than are recognized as the same object', () => {
    const kindOf = createKindOf();
    const many = Array.from({ length: 50 }, (_, index) => ({ ...violation, keyword: `rule-${index}` }));
    const first = many.map((one) => kindOf('getQuestions', 200, one).fingerprint);
    expect(new Set(first).size).toBe(50);
    expect(many.map((one) => kindOf('getQuestions', 200, one).fingerprint)).toEqual(first);
  });

  it('is forgotten after many others, because callers can make up any number of violations', () => {
    const kindOf = createKindOf();
    const first = kindOf('getQuestions', 200, violation);
    for (let index = 0; index < 5_000; index += 1)
      kindOf('getQuestions', 200, { ...violation, schemaPath: `/${index}` });
    const again = kindOf('getQuestions', 200, violation);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
