import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Term } from '../../../src/engine/model/operation.ts';
import { containsAll, createBitSet, createVocabulary, membersOf } from '../../../src/engine/permissions/vocabulary.ts';

const SIZE = 100;
const members = fc.uniqueArray(fc.integer({ min: 0, max: SIZE - 1 }));

// Callers whose grants have the same key receive the same stored pages.
it('the key of a set of terms is different for every set, even if a name contains a separator', () => {
  const terms = ['a', 'b', 'a,permission:b', 'a","permission:b'].map((name) => ({ kind: 'permission' as const, name }));
  const { setOf, keyOf } = createVocabulary(terms);
  const sets = [[], ...terms.map((one) => [one]), terms.slice(0, 2), terms];
  expect(new Set(sets.map((set) => keyOf(setOf(set)))).size).toBe(sets.length);
});

// Gateways with the same Redis share pages by this key, and read the terms from their own contract and roles file.
it('the key of a set of terms depends neither on their order nor on other terms', () => {
  const [one, two, other] = ['b', 'a', 'A'].map((name) => ({ kind: 'permission' as const, name })) as [
    Term,
    Term,
    Term,
  ];
  const first = createVocabulary([one, two]);
  const second = createVocabulary([other, two, one, two]);
  expect(first.keyOf(first.setOf([one, two]))).toBe(second.keyOf(second.setOf([two, one])));
  expect(() => first.setOf([other])).toThrow('no rule or account uses permission:A');
});

describe('a bit set', () => {
  it('contains its initial members', () => {
    fc.assert(
      fc.property(members, (numbers) => {
        expect(membersOf(createBitSet(SIZE, numbers))).toEqual(numbers.sort((a, b) => a - b));
      }),
    );
  });

  it('contains another exactly when every member of the other is a member', () => {
    fc.assert(
      fc.property(members, members, fc.boolean(), (whole, other, subset) => {
        const part = subset ? whole.filter((one) => other.includes(one)) : other;
        const expected = part.every((one) => whole.includes(one));
        expect(containsAll(createBitSet(SIZE, whole), createBitSet(SIZE, part))).toBe(expected);
      }),
    );
  });

  it('rejects a member outside its size', () => {
    expect(() => createBitSet(32, [32])).toThrow(RangeError);
    expect(() => createBitSet(32, [-1])).toThrow(RangeError);
  });

  it('can use the last bit of a word', () => {
    const last = createBitSet(64, [31, 63]);
    expect(membersOf(last)).toEqual([31, 63]);
    expect(containsAll(last, createBitSet(64, [31]))).toBe(true);
    expect(containsAll(createBitSet(64, [30]), last)).toBe(false);
  });
});
