import { describe, expect, it } from 'vitest';
import { upperShare } from '../../src/lib/share-bounds.ts';

describe('upperShare', () => {
  it('is about 3 in n without failures', () => {
    expect(upperShare(0, 1000)).toBeCloseTo(0.002991, 6);
    expect(upperShare(0, 1_000_000) * 1_000_000).toBeCloseTo(2.9957, 3);
  });

  it.each([
    // From tables of the exact binomial distribution (Clopper and Pearson, one-sided 95%).
    [1, 10, 0.39416],
    [2, 20, 0.28262],
    [5, 100, 0.10225],
    [19, 20, 0.99744],
  ])('is exact for %i of %i', (failures, trials, bound) => {
    expect(upperShare(failures, trials)).toBeCloseTo(bound, 4);
  });

  it('says nothing without trials, and does not jump where it becomes an approximation', () => {
    expect(upperShare(0, 0)).toBe(1);
    expect(upperShare(7, 7)).toBe(1);
    const [exact, approximate] = [upperShare(2000, 100_000), upperShare(2001, 100_000)];
    expect(approximate / exact).toBeCloseTo(1, 2);
    // Exact bounds, as above. Below them, an upper bound would not hold.
    for (const [failures, trials, bound] of [
      [2500, 5000, 0.5117287],
      [4999, 5000, 0.9999897],
      [10_000, 20_000, 0.5058402],
    ] as const) {
      expect(upperShare(failures, trials)).toBeGreaterThanOrEqual(bound);
      expect(upperShare(failures, trials)).toBeCloseTo(bound, 3);
    }
  });
});
