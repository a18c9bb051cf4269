import { describe, expect, it } from 'vitest';
import { createDistinctFacts, itemOf } from '../../../src/learner/shape/distinct-facts.ts';

describe('the memory of recorded facts', () => {
  it('recognizes a fact about the same item at the same place', () => {
    const { isNew } = createDistinctFacts();
    expect(isNew('null', { place: 1, item: 1 })).toBe(true);
    expect(isNew('null', { place: 1, item: 1 })).toBe(false);
    expect(isNew('null', { place: 2, item: 1 })).toBe(true);
    expect(isNew('null', { place: 1, item: 2 })).toBe(true);
    expect(isNew('array', { place: 1, item: 1 })).toBe(true);
  });

  it('still recognizes most new facts and recent facts after millions of facts', () => {
    const { isNew } = createDistinctFacts();
    for (let item = 0; item < 2_000_000; item += 1) isNew('null', { place: 1, item });
    const count = (first: number) =>
      Array.from({ length: 1000 }, (_, at) => isNew('null', { place: 1, item: first + at })).filter(Boolean).length;
    expect(count(2_000_000)).toBeGreaterThan(500);
    expect(count(2_000_000)).toBe(0);
    expect(count(1_990_000)).toBe(0);
  });

  it('identifies an object by its id and type, and other values by the object that contains them', () => {
    expect(itemOf({ id: 7, type: 'idea' }, 1)).toBe(itemOf({ id: '7', type: 'idea', more: 1 }, 2));
    expect(itemOf({ id: 7, type: 'idea' }, 1)).not.toBe(itemOf({ id: 7, type: 'question' }, 1));
    expect([itemOf('x', 3), itemOf(null, 3), itemOf([1], 3), itemOf({ name: 'x' }, 3)]).toEqual([3, 3, 3, 3]);
  });
});
