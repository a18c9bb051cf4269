import type { ClaimListener } from './sharing.ts';

/** Those in this process who wait for the end of a claim. */
interface ClaimListeners {
  listen(key: string): ClaimListener;
  /** Tells those who listen to a key that a claim on it has ended. */
  ended(key: string, succeeded: boolean): void;
}

/** Creates an empty list of listeners. */
export function createClaimListeners(): ClaimListeners {
  const waiting = new Map<string, Set<(outcome: boolean | undefined) => void>>();
  return {
    listen(key) {
      const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
      const wakes = waiting.get(key) ?? new Set();
      waiting.set(key, wakes.add(resolve));
      return {
        outcome(ms) {
          const timer = setTimeout(resolve, ms, undefined).unref();
          return promise.finally(() => clearTimeout(timer));
        },
        stop() {
          wakes.delete(resolve);
          if (wakes.size === 0 && waiting.get(key) === wakes) waiting.delete(key);
        },
      };
    },
    ended(key, succeeded) {
      for (const wake of waiting.get(key) ?? []) wake(succeeded);
    },
  };
}
