import { expect, test } from 'vitest';
import { percentileOf, slopeOf } from '../../tools/prove/load/statistics.ts';

test('a percentile is the value below which that share lies', () => {
  const sorted = Array.from({ length: 1000 }, (_, index) => index + 1);
  expect([0.5, 0.99, 1].map((share) => percentileOf(sorted, share))).toEqual([501, 991, 1000]);
});

test('a percentile without values is zero', () => {
  expect(percentileOf([], 0.99)).toBe(0);
});

test('the slope of points on a line is that of the line, and that of a single point is zero', () => {
  expect(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
  ).toBe(2);
  expect(slopeOf([[5, 5]])).toBe(0);
});
