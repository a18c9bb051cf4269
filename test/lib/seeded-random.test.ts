import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../src/lib/seeded-random.ts';

const draws = (seed: number): number[] => {
  const random = createSeededRandom(seed);
  return Array.from({ length: 50 }, () => random.integer(1, 1000));
};

describe('seeded random', () => {
  it('returns the same sequence for the same seed and a different one for another seed', () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
  });

  it('returns integers within both inclusive bounds', () => {
    const random = createSeededRandom(3);
    const seen = new Set(Array.from({ length: 300 }, () => random.integer(1, 3)));
    expect(seen).toEqual(new Set([1, 2, 3]));
  });

  it('samples distinct items, at most all of them', () => {
    const sample = createSeededRandom(1).sample(['a', 'b', 'c'], 5);
    expect(sample.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('throws when picking from an empty list', () => {
    expect(() => createSeededRandom(1).pick([])).toThrow(RangeError);
  });
});
