import type { Counted, Counters } from '../sharing.ts';
import { ifAvailable, type Redis, type RedisReply, type RedisScript } from './connect-redis.ts';
import { openFleetHash } from './fleet-key.ts';

/** Counts an event, and returns the number of events and the remaining time of the window in milliseconds. */
const ADD: RedisScript = {
  source: `
redis.call('SET', KEYS[1], 0, 'PX', ARGV[1], 'NX')
return {redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1])}`,
};

/** Returns what `ADD` would, but counts nothing. */
const READ: RedisScript = {
  source: `return {tonumber(redis.call('GET', KEYS[1]) or '0') + 1, redis.call('PTTL', KEYS[1])}`,
};

/**
 * Opens counters that count for all gateways. Redis contains only keyed hashes of the keys. `own` counts while Redis is
 * unavailable.
 */
export function openRedisCounters(redis: Redis, name: string, own: Counters): Counters {
  const hash = openFleetHash(redis, 'limits');
  const ask = async (script: RedisScript, key: string, windowMs: number): Promise<Counted | undefined> => {
    const hashed = await hash(`${name}:${key}`);
    if (hashed === undefined) return undefined;
    const reply = await ifAvailable(redis.run(script, [redis.key(`limit-${hashed}`)], [String(windowMs)]));
    return reply === undefined ? undefined : countedOf(reply, windowMs);
  };
  return {
    add: async (key, windowMs) => (await ask(ADD, key, windowMs)) ?? own.add(key, windowMs),
    read: async (key, windowMs) => (await ask(READ, key, windowMs)) ?? own.read(key, windowMs),
  };
}

/** A planted value must not make a window longer than it is. A key without an end, or without a value, has -1 or -2. */
function countedOf(reply: RedisReply, windowMs: number): Counted {
  const [count = 0, left = 0] = Array.isArray(reply) ? reply.map(Number) : [];
  return { count, leftMs: left < 0 ? windowMs : Math.min(left, windowMs) };
}
