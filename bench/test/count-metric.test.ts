import assert from 'node:assert/strict';
import { test } from 'vitest';
import { sumOfLines } from '../count-metric.ts';

const TEXT = `# HELP portico_cache_requests_total Requests by what the cache did.
portico_cache_requests_total{operation="a",result="hit"} 3
portico_cache_requests_total{operation="b",result="hit"} 4
portico_cache_requests_total{operation="a",result="miss"} 100
portico_cache_entries 7
`;

test('matching lines are summed over their other labels', () => {
  assert.equal(sumOfLines(TEXT, /^portico_cache_requests_total\{.*result="hit"/), 7);
});

test('a metric without labels is read by its whole name', () => {
  assert.equal(sumOfLines(TEXT, /^portico_cache_entries /), 7);
});

test('the value is zero if nothing matches', () => {
  assert.equal(sumOfLines(TEXT, /^portico_errors_total/), 0);
});
