import { expect, it } from 'vitest';
import { createRetryBudget } from '../../../src/engine/upstream/retries.ts';
import { createTestClock } from '../../builders/test-clock.ts';

function budgetOf(percent: number, minPerSecond: number, burst = 2) {
  const clock = createTestClock();
  return { clock, budget: createRetryBudget({ percent, minPerSecond }, burst, clock) };
}

it('a retry budget is full at the beginning and grows with the requests', () => {
  const { budget } = budgetOf(20, 0);
  expect([budget.take(1), budget.take(2), budget.take(3)]).toEqual([true, true, false]);
  expect([budget.take(7), budget.take(8), budget.take(12)]).toEqual([true, false, true]);
});

it('a retry budget grows with time, up to its limit', () => {
  const { budget, clock } = budgetOf(0, 1);
  expect([budget.take(1), budget.take(2), budget.take(3)]).toEqual([true, true, false]);
  clock.advance(1);
  expect([budget.take(4), budget.take(5)]).toEqual([true, false]);
  clock.advance(3600);
  expect([budget.take(6), budget.take(7), budget.take(8)]).toEqual([true, true, false]);
});

it('a retry budget does not shrink when the clock is set back', () => {
  const { budget, clock } = budgetOf(0, 1);
  clock.advance(-3600);
  expect(budget.take(1)).toBe(true);
});

it('a retry budget without a share and a minimum allows nothing', () => {
  const { budget, clock } = budgetOf(0, 0);
  clock.advance(60);
  expect(budget.take(1000)).toBe(false);
});
