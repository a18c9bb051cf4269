import { vi } from 'vitest';

/** The timers with a given delay that the current test has started. */
export interface WatchedTimers {
  /** Returns the number of timers started so far. */
  started(): number;
  /** Returns the number of timers that have been neither cleared nor run by `runNow`. */
  running(): number;
  /** Immediately runs the callbacks of all pending timers, as if their delay had elapsed. */
  runNow(): void;
}

/**
 * Watches timers with the given delay, in milliseconds, that are started during the rest of the current test. A test
 * that knows the delay does not have to wait for it. The timers themselves still work as usual.
 */
export function watchTimers(delayMs: number): WatchedTimers {
  const starts = vi.spyOn(globalThis, 'setTimeout');
  const ends = vi.spyOn(globalThis, 'clearTimeout');
  const started = () =>
    starts.mock.calls.flatMap(([callback, delay], index) => {
      const timer = starts.mock.results[index]?.value as NodeJS.Timeout;
      return delay === delayMs ? [{ callback, timer }] : [];
    });
  const running = () => started().filter(({ timer }) => !ends.mock.calls.some(([ended]) => ended === timer));
  return {
    started: () => started().length,
    running: () => running().length,
    runNow() {
      for (const { callback, timer } of running()) {
        clearTimeout(timer);
        callback();
      }
    },
  };
}
