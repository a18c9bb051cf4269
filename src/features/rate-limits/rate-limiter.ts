import { createRequire } from 'node:module';
import type * as RateLimiterFlexible from 'rate-limiter-flexible';
import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { networkOf } from '../../lib/network-address.ts';
import { countedAs } from '../../engine/model/principal.ts';
import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import type { KnownRequest } from '../../engine/pipeline/exchange.ts';
import {
  openFleetKey,
  type Redis,
  type RedisScript,
  RedisUnavailable,
} from '../../engine/sharing/redis/connect-redis.ts';
import type { RateLimitRule } from './options.ts';

/** The error of a request that exceeds a budget. */
export const RATE_LIMITED: ErrorKind = { code: 'rate_limited', status: 429, title: 'Too many requests' };

/** The budgets that a request used, as header values (draft-ietf-httpapi-ratelimit-headers). */
interface UsedBudgets {
  readonly policy: string;
  readonly state: string;
  /** The rule that refused the request. */
  readonly refusedBy: string | undefined;
}

/** The place of the budgets in a request's trace. */
export const BUDGETS = createTraceSlot<UsedBudgets>();

/** Counts requests against the rules in `rateLimits`. */
export interface RateLimiter {
  /** Returns the rules that can apply to an operation, or to undocumented paths. */
  rulesFor(operation: string | undefined): readonly Limit[];
  /**
   * Counts a request, and records the budgets in its trace. Rejects with a `GatewayError` if a budget is exhausted. If
   * `isPeek` is true, only checks whether a request would be refused, and counts nothing.
   */
  count(rules: readonly Limit[], request: KnownRequest, roles: readonly string[], isPeek?: boolean): Promise<void>;
}

/** The state of a budget after a request has been counted. */
interface Taken {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
  readonly isUsedUp: boolean;
}

/** A rule from `rateLimits` with its budgets. */
interface Limit extends RateLimitRule {
  readonly budgets: ReturnType<typeof createBudgets>;
}

interface RateLimiterParts {
  readonly rules: readonly RateLimitRule[];
  /** The Redis server that stores the shared budgets. Undefined if no state is shared. */
  readonly redis: Redis | undefined;
  /**
   * The maximum number of budgets stored per rule. If there are more, the least recently used budget is dropped, so its
   * owner starts over with a full budget.
   */
  readonly maxBudgets?: number;
  /** Called for each request that a rule refuses. */
  readonly onLimited: (rule: string, operation: string | undefined) => void;
}

const MAX_BUDGETS = 50_000;
/** The interval, in milliseconds, at which the fleet's shared key is reread in case Redis has lost its data. */
const KEY_MS = 60_000;

/** Creates the limiter. While Redis is unavailable, each gateway counts separately. */
export function createRateLimiter({
  rules,
  redis,
  maxBudgets = MAX_BUDGETS,
  onLimited,
}: RateLimiterParts): RateLimiter {
  const limits = rules.map((rule) => ({ ...rule, budgets: createBudgets(rule, redis, maxBudgets) }));
  const hash = redis === undefined ? () => undefined : fleetHash(redis);
  return {
    rulesFor: (operation) =>
      limits.filter(({ operations }) => operations === undefined || (operation && operations.includes(operation))),
    async count(applicable, request, roles, isPeek = false) {
      const counted = await Promise.all(
        applicable.flatMap((rule) => {
          const who = budgetOwner(rule, request, roles);
          return who === undefined ? [] : [countOne(rule, `${rule.name}:${who}`, isPeek)];
        }),
      );
      if (counted.length === 0) return;
      const refused = counted.filter(({ isUsedUp }) => isUsedUp).sort((a, b) => b.seconds - a.seconds)[0];
      BUDGETS.set(request.trace, {
        policy: counted.map(({ rule }) => `"${rule.name}";q=${rule.requests};w=${rule.windowSeconds}`).join(', '),
        state: counted.map(({ rule, left, seconds }) => `"${rule.name}";r=${left};t=${seconds}`).join(', '),
        refusedBy: refused?.rule.name,
      });
      if (refused === undefined) return;
      if (!isPeek) onLimited(refused.rule.name, request.trace.operation);
      throw new GatewayError(RATE_LIMITED, `Too many requests. Try again in ${refused.seconds} seconds.`, {
        headers: { 'Retry-After': String(refused.seconds) },
      });
    },
  };

  async function countOne(rule: Limit, text: string, isPeek: boolean) {
    const { remainingPoints, msBeforeNext, isUsedUp } = await rule.budgets.take(text, await hash(text), isPeek);
    return { rule, isUsedUp, left: remainingPoints, seconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) };
  }
}

/**
 * Returns the owner of the budget that a request uses, or undefined if the rule does not apply. An unverified caller
 * uses the budget of its network, so a forged name cannot exhaust another caller's budget.
 */
function budgetOwner(rule: RateLimitRule, { principal, arrival }: KnownRequest, roles: readonly string[]) {
  const role = rule.roles?.find((one) => roles.includes(one));
  if (rule.roles !== undefined && role === undefined) return undefined;
  if (rule.per === 'role') return `role:${role ?? ''}`;
  if (rule.per === 'caller' && principal.kind === 'verified') return countedAs(principal);
  return `network:${networkOf(arrival.clientAddress)}`;
}

/** Returns the number of requests counted against a budget, and the remaining time of its window in milliseconds. */
const READ_BUDGET: RedisScript = {
  source: `return { tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1]) }`,
};

/** Creates the budgets for one rule. */
function createBudgets(rule: RateLimitRule, redis: Redis | undefined, max: number) {
  // `rate-limiter-flexible` is a large package, so it is loaded only if there are rules.
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
  // `rate-limiter-flexible` stores each key until it expires, with no limit on the number of keys.
  const recent = createLruMap<string, true>(max, (key) => void memory.delete(key));
  const windowMs = rule.windowSeconds * 1000;
  const readMemory = async (key: string) => {
    const found = await memory.get(key);
    return { used: found?.consumedPoints ?? 0, msBeforeNext: found?.msBeforeNext ?? windowMs };
  };
  /** Reads a budget without creating it. Returns undefined if Redis is unavailable. */
  const readRedis = async (key: string) => {
    const read = await redis?.run(READ_BUDGET, [key], []).catch((error: unknown) => {
      if (!(error instanceof RedisUnavailable)) throw error;
    });
    if (!Array.isArray(read)) return undefined;
    const [used, left] = read.map(Number);
    return { used: used ?? 0, msBeforeNext: left === undefined || left < 0 ? windowMs : left };
  };
  return {
    /**
     * Counts a request against a budget. `text` identifies the budget's owner. Redis stores the budget under `hash`. If
     * `hash` is undefined, only this gateway counts the request. If `isPeek` is true, nothing is counted, and the result
     * is what counting the request would return.
     */
    async take(text: string, hash: string | undefined, isPeek: boolean): Promise<Taken> {
      const key = redis === undefined || hash === undefined ? text : redis.key(`limit-${hash}`);
      if (isPeek) {
        const { used, msBeforeNext } =
          (hash === undefined ? undefined : await readRedis(key)) ?? (await readMemory(key));
        return {
          remainingPoints: Math.max(0, rule.requests - used - 1),
          msBeforeNext,
          isUsedUp: used >= rule.requests,
        };
      }
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

/** Returns a Redis client for `rate-limiter-flexible`, which uses the client only to evaluate scripts. */
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

/**
 * Returns a function that hashes names and networks with the key shared by the fleet. The function returns undefined
 * while the key is unknown because Redis is unavailable.
 */
function fleetHash(redis: Redis): (text: string) => Promise<string | undefined> {
  const key = openFleetKey(redis, 'limits');
  let readAt = -Infinity;
  let reading = Promise.resolve();
  return async (text) => {
    const now = performance.now();
    if (now - readAt > KEY_MS) {
      readAt = now;
      reading = key.read().catch((error: unknown) => {
        if (!(error instanceof RedisUnavailable)) throw error;
        readAt = -Infinity;
      });
    }
    if (key.id() === undefined) await reading;
    return key.id() === undefined ? undefined : key.hash(text);
  };
}
