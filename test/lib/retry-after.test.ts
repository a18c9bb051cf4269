import { expect, it } from 'vitest';
import { retryAfterMs } from '../../src/lib/retry-after.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

it.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['0', 0],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['Thu, 01 Jan 2026 03:05:05 GMT', 0],
])('a server that says %j asks clients to wait %d milliseconds', (value, ms) =>
  expect(retryAfterMs(value, NOW)).toBe(ms),
);

it.each([undefined, '', '-1', '1.5', '1e3', '9999999999', 'soon', '2026-01-02'])('%j says nothing', (value) =>
  expect(retryAfterMs(value, NOW)).toBeUndefined(),
);
