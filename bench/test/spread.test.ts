import { expect, test } from 'vitest';
import { spreadOf } from '../spread.ts';

test('the median of an odd number of rounds is the middle one, and rounds are compared as numbers', () => {
  expect(spreadOf([30, 100, 9])).toEqual({ median: 30, min: 9, max: 100 });
});

test('the median of an even number of rounds is between the middle two', () => {
  expect(spreadOf([40, 10, 20, 30])).toEqual({ median: 25, min: 10, max: 40 });
});

test('an empty list of rounds is an error', () => {
  expect(() => spreadOf([])).toThrow(RangeError);
});
