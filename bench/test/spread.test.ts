import assert from 'node:assert/strict';
import { test } from 'vitest';
import { slopeOf } from '../slope.ts';
import { spreadOf } from '../spread.ts';

test('the median of an odd number of rounds is the middle one, in any order', () => {
  assert.deepEqual(spreadOf([30, 10, 20]), { median: 20, min: 10, max: 30 });
});

test('the median of an even number of rounds is between the middle two', () => {
  assert.deepEqual(spreadOf([40, 10, 20, 30]), { median: 25, min: 10, max: 40 });
});

test('rounds are compared as numbers, not as text', () => {
  assert.equal(spreadOf([9, 100, 20]).median, 20);
});

test('an empty list of rounds is an error', () => {
  assert.throws(() => spreadOf([]), RangeError);
});

test('the slope of points on a line is that of the line', () => {
  assert.equal(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    2,
  );
});

test('the slope of a single point is undefined', () => {
  assert.equal(slopeOf([[5, 5]]), 0);
});
