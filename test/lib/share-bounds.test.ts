import { describe, expect, it } from 'vitest';
import { upperShare } from '../../src/lib/share-bounds.ts';

describe('upperShare', () => {
  it('is about 3 in n without failures', () => {
    expect(upperShare(0, 1000)).toBeCloseTo(0.002991, 6);
    expect(upperShare(0, 1_000_000) * 1_000_000).toBeCloseTo(2.9957, 3);
  });

  it.each([
    // From tables of the exact binomial distribution (Clopper and Pearson, one-sided 95%).
    [1, 10, 0.394163],
    [2, 20, 0.282619],
    [5, 100, 0.102253],
    [19, 20, 0.997439],
    [2_000, 100_000, 0.0207436],
    [3_000, 10_000, 0.3076301],
    [400_000, 1_000_000, 0.4008065],
  ])('is exact for %i of %i', (failures, trials, bound) => {
    expect(upperShare(failures, trials)).toBeCloseTo(bound, 5);
  });

  it('says nothing without trials', () => {
    expect(upperShare(0, 0)).toBe(1);
    expect(upperShare(7, 7)).toBe(1);
  });
});
