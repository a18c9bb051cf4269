import assert from 'node:assert/strict';
import { test } from 'vitest';
import { curveOf } from '../measure-warm-up.ts';

const windows = (cpuUs: readonly number[]) => cpuUs.map((one) => ({ requests: 1000, cpuUs: one }));
const WARM = Array.from({ length: 10 }, () => 50);

test('a process is warm after the last window that took over 20% more than the final windows', () => {
  const { requestsUntilWarm, finalCpuUs } = curveOf(windows([300, 200, 100, 70, 65, 61, 61, 60, ...WARM]));
  assert.equal(finalCpuUs, 50);
  assert.equal(requestsUntilWarm, 6000);
});

test('a single slow window does not count, because the machine can be busy for a moment', () => {
  assert.equal(curveOf(windows([300, 200, 100, 50, 50, 90, 50, 50, ...WARM])).requestsUntilWarm, 2000);
});

test('a process that is fast from the beginning is warm at once', () => {
  assert.equal(curveOf(windows(WARM)).requestsUntilWarm, 0);
});
