import { LRUCache } from 'lru-cache';
import type { IdentityOptions } from './identity-options.ts';

/** Counts failed attempts per pair of address and name. */
export interface FailureLimiter {
  /** Counts an attempt as failed before it is made, so that parallel ones cannot outrun the count; or tells how long to wait. */
  begin(pair: string, now: number): { readonly retryAfterSeconds: number } | undefined;
  /** Takes back what `begin` counted at `now`, because the attempt did not fail. */
  withdraw(pair: string, now: number): void;
}

/** A sliding window of instants per pair; the least recently tried pairs are forgotten first. */
export function createFailureLimiter(options: IdentityOptions['failures']): FailureLimiter {
  const pairs = new LRUCache<string, readonly number[]>({ max: options.maxPairs });
  const windowMs = options.windowSeconds * 1000;
  return {
    begin(pair, now) {
      const recent = (pairs.get(pair) ?? []).filter((at) => at > now - windowMs);
      const [oldest = now] = recent;
      if (recent.length >= options.limit) return { retryAfterSeconds: Math.ceil((oldest + windowMs - now) / 1000) };
      pairs.set(pair, [...recent, now]);
      return undefined;
    },
    withdraw(pair, now) {
      const attempts = pairs.get(pair) ?? [];
      const index = attempts.indexOf(now);
      if (index >= 0) pairs.set(pair, attempts.toSpliced(index, 1));
    },
  };
}
