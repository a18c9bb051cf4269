import type { Clock } from '../../src/lib/clock.ts';

/** A clock that moves only when a test advances it. */
export interface TestClock extends Clock {
  advance(seconds: number): void;
}

/** Creates a clock that starts after the seeded history. */
export function createTestClock(startAt = Date.UTC(2026, 4, 4, 10, 30, 15, 250)): TestClock {
  let now = startAt;
  return Object.assign(() => now, {
    advance: (seconds: number) => {
      now += seconds * 1000;
    },
  });
}
