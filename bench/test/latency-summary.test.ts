import assert from 'node:assert/strict';
import { test } from 'vitest';
import { percentileOf, summarize } from '../latency-summary.ts';

test('percentiles of a thousand latencies are computed in any order', () => {
  const values = Float64Array.from({ length: 1000 }, (_, index) => 1000 - index);
  assert.deepEqual(summarize(values), { p50: 501, p99: 991, p999: 1000, max: 1000 });
});

test('percentiles are the same for fractional latencies', () => {
  assert.deepEqual(summarize(Float64Array.from([0.25, 10, 9])), { p50: 9, p99: 10, p999: 10, max: 10 });
});

test('a percentile without values is zero', () => {
  assert.equal(percentileOf([], 0.99), 0);
});
