import { expect, test } from 'vitest';
import { faultOf } from '../load.ts';
import { readCounts } from '../wrk.ts';

const LINE =
  'BENCH {"requests":1000,"bytes":2000,"durationUs":500000,"connect":1,"read":2,"write":3,"timeout":4,"status":5}';

test('the counts of a round are found among other output', () => {
  const counts = { requests: 1000, bytes: 2000, seconds: 0.5, errorStatuses: 5, socketErrors: 10 };
  expect(readCounts(`Running 2s test\n${LINE}\nRequests/sec: 1\n`)).toEqual(counts);
});

test('an output without counts is rejected', () => {
  expect(readCounts('unable to connect to 127.0.0.1:1 Connection refused\n')).toBeUndefined();
});

test('a round is wrong if statuses, bytes, sockets or the counts of Portico do not account for every request', () => {
  const right = { requests: 1000, bytes: 29_000_000, seconds: 1, errorStatuses: 0, socketErrors: 0 };
  expect(faultOf(right, 29_000, 1000)).toBeUndefined();
  // 32 responses were under way.
  expect(faultOf({ ...right, bytes: 29_000 * 1032 }, 29_000, undefined)).toBeUndefined();
  expect(faultOf({ ...right, errorStatuses: 1 }, 29_000, 1000)).toMatch(/1 of 1000 responses were errors/);
  expect(faultOf({ ...right, socketErrors: 1 }, 29_000, 1000)).toMatch(/1 socket errors/);
  expect(faultOf(right, 29_000, 999)).toMatch(/counted only 999/);
  expect(faultOf(right, 30_000, 1000)).toMatch(/29000 bytes instead of 30000/);
  expect(faultOf(right, 27_000, 1000)).toMatch(/29000 bytes instead of 27000/);
  expect(faultOf({ ...right, requests: 0 }, 29_000, 1000)).toMatch(/no response/);
});
