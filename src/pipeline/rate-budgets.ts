import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import type * as RateLimiterFlexible from 'rate-limiter-flexible';
import type { RateLimitRule } from '../model/rate-limit-rule.ts';
import type { Redis, RedisScript } from '../redis/connect-redis.ts';

/** The state of a budget after a request has been counted. */
export interface Taken {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
  readonly isUsedUp: boolean;
}

/** Creates the budgets of one rule. If there are more than `max`, the least recently used budget is dropped. */
export function createBudgets(rule: RateLimitRule, redis: Redis | undefined, max: number) {
  // The library is large, so it is loaded only if there are rules.
  const library = createRequire(import.meta.url)('rate-limiter-flexible') as typeof RateLimiterFlexible;
  const { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } = library;
  const options = { points: rule.requests, duration: rule.windowSeconds, keyPrefix: '' };
  const memory = new RateLimiterMemory(options);
  const limiter =
    redis === undefined
      ? memory
      : new RateLimiterRedis({
          ...options,
          storeClient: storeOf(redis),
          useRedisPackage: true,
          insuranceLimiter: memory,
        });
  // The library stores each key until it expires, without limiting the number of keys.
  const recent = new LRUCache<string, true>({
    max,
    dispose: (_value, key, reason) => {
      if (reason === 'evict') void memory.delete(key);
    },
  });
  return {
    /**
     * Counts a request against the budget of the owner `text`. Redis stores the budget under `hash`. If `hash` is
     * undefined, only this gateway counts the request.
     */
    async take(text: string, hash: string | undefined): Promise<Taken> {
      const key = redis === undefined || hash === undefined ? text : redis.key(`limit-${hash}`);
      recent.set(key, true);
      try {
        const { remainingPoints, msBeforeNext } = await (hash === undefined ? memory : limiter).consume(key);
        return { remainingPoints, msBeforeNext, isUsedUp: false };
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        return { remainingPoints: 0, msBeforeNext: error.msBeforeNext, isUsedUp: true };
      }
    },
  };
}

/** Returns a Redis client for the library, which uses it only to evaluate scripts. */
function storeOf(redis: Redis) {
  const scripts = new Map<string, RedisScript>();
  return {
    eval(source: string, given: { readonly keys: readonly string[]; readonly arguments: readonly string[] }) {
      const script = scripts.get(source) ?? { source };
      scripts.set(source, script);
      return redis.run(script, given.keys, given.arguments);
    },
  };
}
