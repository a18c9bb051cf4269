import type { SharedLines } from '../sharing.ts';
import type { Redis, RedisScript } from './connect-redis.ts';

/** Opens a list that stores at most `max` lines and returns the latest `shown` lines. */
export function openRedisLines(redis: Redis, name: string, max: number, shown: number): SharedLines {
  const key = redis.key('documents', name);
  let waiting: (readonly [at: string, line: string])[] = [];
  return {
    add(line, at) {
      waiting = [...waiting, [String(at), line] as const].slice(-max);
    },
    async read() {
      const added = waiting;
      try {
        const lines = await redis.run(LINES, [key], [String(max), String(shown), ...added.flat()]);
        waiting = waiting.filter((one) => !added.includes(one));
        return lines as string[];
      } catch {
        return undefined;
      }
    },
  };
}

const LINES: RedisScript = {
  source: `
for i = 3, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[1]) - 1)
return redis.call('ZRANGE', KEYS[1], -tonumber(ARGV[2]), -1)`,
};
