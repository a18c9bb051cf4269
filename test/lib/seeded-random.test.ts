import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../src/lib/seeded-random.ts';

const draws = (seed: number): number[] => {
  const random = createSeededRandom(seed);
  return Array.from({ length: 50 }, () => random.integer(1, 1000));
};

describe('seeded random', () => {
  it('gives the same sequence for the same seed and another for another seed', () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
  });

  it('stays within the bounds of integer, both included', () => {
    const random = createSeededRandom(3);
    const seen = new Set(Array.from({ length: 300 }, () => random.integer(1, 3)));
    expect(seen).toEqual(new Set([1, 2, 3]));
  });

  it('samples different items, and no more than there are', () => {
    const sample = createSeededRandom(1).sample(['a', 'b', 'c'], 5);
    expect(sample.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('refuses to pick from nothing', () => {
    expect(() => createSeededRandom(1).pick([])).toThrow(RangeError);
  });
});
