import { expect, test } from 'vitest';
import { requestsUntilWarm } from '../warm-up.ts';

const windows = (cpuUs: readonly number[]) => cpuUs.map((one, at) => ({ sent: (at + 1) * 10_000, cpuUs: one }));
const WARM = Array.from({ length: 10 }, () => 50);

test('a process is warm after the last window that took over 20% more than the rounds that follow', () => {
  expect(requestsUntilWarm(windows([300, 200, 100, 70, 65, 61, 61, 60, ...WARM]), 50)).toBe(60_000);
});

test('a single slow window does not count, because the machine can be busy for a moment', () => {
  expect(requestsUntilWarm(windows([300, 200, 100, 50, 50, 90, 50, 50, ...WARM]), 50)).toBe(20_000);
});

test('a process that is fast from the beginning is warm at once', () => {
  expect(requestsUntilWarm(windows(WARM), 50)).toBe(0);
});

test('a warm-up that was too short says nothing', () => {
  expect(requestsUntilWarm(windows([50, 50, 50]), 50)).toBeUndefined();
});
