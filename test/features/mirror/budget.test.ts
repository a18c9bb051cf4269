import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/features/mirror/budget.ts';
import { createTestClock } from '../../builders/test-clock.ts';

describe('the budget of the mirror', () => {
  it('allows so many requests per second, and says when the next one is possible', () => {
    const clock = createTestClock();
    const budget = createBudget({ requestsPerSecond: 2, bytesPerSecond: 1024 }, clock);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
    expect(budget.waitMs()).toBe(500);
    clock.advance(0.5);
    expect([budget.waitMs(), budget.take(), budget.take()]).toEqual([0, true, false]);
  });

  it('recovers from a large response before the next request', () => {
    const clock = createTestClock();
    const budget = createBudget({ requestsPerSecond: 1000, bytesPerSecond: 1000 }, clock);
    budget.spend(3000);
    expect(budget.take()).toBe(false);
    clock.advance(1.5);
    expect(budget.take()).toBe(false);
    clock.advance(0.6);
    expect(budget.take()).toBe(true);
  });

  it('never saves up more than one second', () => {
    const clock = createTestClock();
    const budget = createBudget({ requestsPerSecond: 2, bytesPerSecond: 1024 }, clock);
    clock.advance(3600);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });
});
