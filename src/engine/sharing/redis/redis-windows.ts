import { randomUUID } from 'node:crypto';
import type { EventWindow, SlidingWindows, WindowEvent } from '../sharing.ts';
import { ifAvailable, type Redis, type RedisScript, RedisUnavailable } from './connect-redis.ts';
import { openFleetKey } from './fleet-key.ts';

/*
 * The keys are a sorted set for each window, with the time of each member; then, for each window, the key that exists
 * while the window is trusted; and then the key of the fleet. All have the same hash tag.
 */

/**
 * Counts an event and returns 0. If a window is full, returns how long to wait, in milliseconds. Returns -1 if the hashes
 * were made with a different key. The script uses the clock of the server, so differences between the gateways' clocks
 * have no effect.
 */
const ADD: RedisScript = {
  source: `
local id, windowMs = ARGV[1], tonumber(ARGV[2])
local windows = (#KEYS - 1) / 2
if redis.sha1hex(redis.call('GET', KEYS[#KEYS]) or '') ~= id then return -1 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function argsOf(at) return tonumber(ARGV[3 * at]), ARGV[3 * at + 1], tonumber(ARGV[3 * at + 2]) end
for at = 1, windows do redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now - windowMs) end
for at = 1, windows do
  local limit, member, truster = argsOf(at)
  if redis.call('ZCARD', KEYS[at]) >= limit and not redis.call('ZSCORE', KEYS[at], member)
    and (truster == 0 or redis.call('EXISTS', KEYS[windows + truster]) == 0) then
    return math.max(1, redis.call('ZRANGE', KEYS[at], -limit, -limit, 'WITHSCORES')[2] + windowMs - now)
  end
end
for at = 1, windows do
  local limit, member = argsOf(at)
  redis.call('ZADD', KEYS[at], now, member)
  redis.call('ZREMRANGEBYRANK', KEYS[at], 0, -limit - 1)
  redis.call('PEXPIRE', KEYS[at], windowMs)
end
return 0`,
};

/** Removes an event. Then, if a time is given, trusts one of its windows. */
const WITHDRAW: RedisScript = {
  source: `
local trusted, ms = tonumber(ARGV[1]), ARGV[2]
local windows = (#KEYS - 1) / 2
for at = 1, windows do
  if ARGV[2 * at + 2] == '0' then redis.call('ZREM', KEYS[at], ARGV[2 * at + 1]) end
end
for at = 1, windows do
  local counted = tonumber(ARGV[2 * at + 2])
  if counted > 0 and redis.call('ZCARD', KEYS[counted]) == 0 then redis.call('ZREM', KEYS[at], ARGV[2 * at + 1]) end
end
if trusted > 0 then redis.call('SET', KEYS[windows + trusted], '1', 'PX', ms) end
return 1`,
};

/**
 * Opens windows that count the events of all gateways. Redis contains only keyed hashes of the texts, and all of them
 * expire. `own` also counts the events of this process, because Redis may become unavailable.
 */
export function openRedisWindows(redis: Redis, group: string, own: SlidingWindows): SlidingWindows {
  const key = openFleetKey(redis, group);

  const attempt = async (windows: readonly EventWindow[], windowMs: number): Promise<WindowEvent> => {
    if (key.id() === undefined) await key.read();
    const token = randomUUID();
    for (let tries = 0; tries < 3; tries += 1) {
      const hashes = windows.map(({ name, texts }) => key.hash(name, ...texts));
      const placeOf = (name: string | undefined) => 1 + windows.findIndex((one) => one.name === name);
      const members = windows.map(({ counts }) => hashes[placeOf(counts) - 1] ?? token);
      const keys = [
        ...windows.map(({ name }, at) => redis.key(group, name, hashes[at] ?? '')),
        ...hashes.map((hash) => redis.key(group, 'trusted', hash)),
        key.at,
      ];
      const args = windows.flatMap(({ limit, unlessTrusted }, at) => [
        String(limit),
        members[at] ?? '',
        String(placeOf(unlessTrusted)),
      ]);
      const waitMs = Number(await redis.run(ADD, keys, [key.id() ?? '', String(windowMs), ...args]));
      if (waitMs < 0) {
        await key.read();
        continue;
      }
      const counted = windows.flatMap(({ counts }, at) => [members[at] ?? '', String(placeOf(counts))]);
      const end = (trusted: number, ms: number) =>
        // If Redis has become unavailable, the event remains counted until the window ends.
        void ifAvailable(redis.run(WITHDRAW, keys, [String(trusted), String(ms), ...counted]));
      return {
        // A planted time must not make anybody wait longer than the window.
        waitMs: Math.min(waitMs, windowMs),
        withdraw: () => end(0, 0),
        trust: (name, ms) => end(placeOf(name), ms),
      };
    }
    throw new RedisUnavailable('the key changes all the time');
  };

  return {
    async add(windows, windowMs) {
      const mine = await own.add(windows, windowMs);
      const all = await ifAvailable(attempt(windows, windowMs));
      if (all === undefined) return mine;
      if (all.waitMs > 0) mine.withdraw();
      return {
        waitMs: all.waitMs,
        withdraw() {
          mine.withdraw();
          all.withdraw();
        },
        trust(name, ms) {
          mine.trust(name, ms);
          all.trust(name, ms);
        },
      };
    },
  };
}
