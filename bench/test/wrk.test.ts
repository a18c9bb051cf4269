import assert from 'node:assert/strict';
import { test } from 'vitest';
import { readCounts } from '../wrk.ts';

const LINE =
  'BENCH {"requests":1000,"bytes":2000,"durationUs":500000,"connect":1,"read":2,"write":3,"timeout":4,"status":5}';

test('the counts of a round are found among other output', () => {
  assert.deepEqual(readCounts(`BEGIN\nRunning 2s test\n${LINE}\nRequests/sec: 1\n`), {
    requests: 1000,
    bytes: 2000,
    seconds: 0.5,
    errorStatuses: 5,
    socketErrors: 10,
  });
});

test('an output without counts is rejected', () => {
  assert.equal(readCounts('unable to connect to 127.0.0.1:1 Connection refused\n'), undefined);
});
