import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DISTINCT_BYTES, distinctPlace, estimateDistinct, markDistinct } from '../../src/lib/distinct-count.ts';

const placeOf = (index: number) => distinctPlace(createHash('sha256').update(`${index}`).digest().readUInt32BE(0));
const bitmapOf = (count: number) => {
  const bitmap = new Uint8Array(DISTINCT_BYTES);
  for (let index = 0; index < count; index++) markDistinct(bitmap, [placeOf(index), placeOf(index)]);
  return bitmap;
};

describe('a count of distinct items', () => {
  it('is exact for a few items', () => {
    expect([0, 1, 2, 5, 10].map((count) => estimateDistinct(bitmapOf(count)))).toEqual([0, 1, 2, 5, 10]);
  });

  it.each([100, 500, 1_000, 3_000])('is close to %d for that many items', (count) => {
    const estimate = estimateDistinct(bitmapOf(count));
    expect(Math.abs(estimate - count) / count).toBeLessThan(0.07);
  });

  it('is independent of order and repetition', () => {
    const [one, two] = [bitmapOf(50), bitmapOf(50)];
    markDistinct(two, [placeOf(3), placeOf(17)]);
    expect(estimateDistinct(two)).toBe(estimateDistinct(one));
  });

  it('stays finite when every bit is set', () => {
    expect(estimateDistinct(new Uint8Array(DISTINCT_BYTES).fill(255))).toBeGreaterThan(10_000);
  });
});
