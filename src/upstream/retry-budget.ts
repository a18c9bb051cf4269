import type { Clock } from '../lib/clock.ts';

/** The `upstream.retryBudget` configuration key. */
export interface RetryBudgetOptions {
  /** The percentage of safe requests that may be retried. */
  readonly percent: number;
  /** The number of retries per second that are always allowed, no matter how few requests there are. */
  readonly minPerSecond: number;
}

/** Limits retries so that they cannot multiply the load on an upstream that keeps breaking connections. */
interface RetryBudget {
  /**
   * Takes one retry from the budget. Returns false if the budget is used up. `requests` is the number of requests so
   * far.
   */
  take(requests: number): boolean;
}

/**
 * Creates a budget, which starts full and never exceeds `burst` retries. `burst` is the number of idle connections that
 * an upstream restart can close at the same time.
 */
export function createRetryBudget(
  { percent, minPerSecond }: RetryBudgetOptions,
  burst: number,
  clock: Clock,
): RetryBudget {
  const isOff = percent === 0 && minPerSecond === 0;
  let tokens = isOff ? 0 : burst;
  let countedRequests = 0;
  let filledAt = clock();
  return {
    take(requests) {
      const now = clock();
      const bySeconds = (Math.max(0, now - filledAt) / 1000) * minPerSecond;
      const byRequests = ((requests - countedRequests) * percent) / 100;
      tokens = Math.min(burst, tokens + bySeconds + byRequests);
      countedRequests = requests;
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
