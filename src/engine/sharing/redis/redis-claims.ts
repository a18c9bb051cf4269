import { randomUUID } from 'node:crypto';
import { createClaimListeners } from '../claim-listeners.ts';
import type { Claims, Unclaimable } from '../sharing.ts';
import { ifAvailable, type Redis, type RedisScript } from './connect-redis.ts';

/** Where claims are stored. Gateways of earlier releases use the same places. */
export interface ClaimPlaces {
  /** Returns the Redis key of a claim. */
  readonly at: (key: string) => string;
  /**
   * The channel on which the end of a claim is published, and the name that a key has there. Undefined if nobody waits
   * for the end of a claim.
   */
  readonly ends?: { readonly channel: string; readonly nameOf: (key: string) => string };
}

/** The value of a key that is settled. The value of a claimed key is a random string. */
const SETTLED = 'accepted';

/** Claims a key. Returns an empty string or, if the key cannot be claimed, its value. */
const TAKE: RedisScript = {
  source: `
local held = redis.call('GET', KEYS[1])
if held then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''`,
};

const RENEW: RedisScript = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
};

const RELEASE: RedisScript = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
if ARGV[2] ~= '' then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return 1`,
};

const stateOf = (value: string): Unclaimable | undefined => {
  if (value === '') return undefined;
  return value === SETTLED ? 'settled' : 'taken';
};

/**
 * Opens claims that count for all gateways. `own` has the claims of this process, which count even if Redis is
 * unavailable.
 */
export function openRedisClaims(redis: Redis, own: Claims, { at, ends }: ClaimPlaces): Claims {
  const listeners = createClaimListeners();
  if (ends !== undefined)
    void redis.subscribe(ends.channel, (message) => listeners.ended(message.slice(1), message.startsWith('+')));
  const ask = async (script: RedisScript, key: string, ...args: readonly string[]) =>
    ifAvailable(redis.run(script, [at(key)], args));
  return {
    async take(key, ms, force) {
      const mine = await own.take(key, ms, force);
      if (typeof mine === 'string') return mine;
      const holder = randomUUID();
      const held = stateOf(String((await ask(TAKE, key, holder, String(ms))) ?? ''));
      // Elsewhere, a key has one holder, so a claim that is held together counts only in this process.
      if (held !== undefined && force === true) return mine;
      if (held !== undefined) {
        void mine.release(false);
        return held;
      }
      return {
        async renew(extraMs) {
          void mine.renew(extraMs);
          return (await ask(RENEW, key, holder, String(extraMs))) === 1;
        },
        async release(succeeded) {
          void mine.release(succeeded);
          const message = ends === undefined ? [] : [ends.channel, `${succeeded ? '+' : '-'}${ends.nameOf(key)}`];
          await ask(RELEASE, key, holder, ...(message.length === 0 ? ['', ''] : message));
        },
      };
    },
    async look(key) {
      const mine = await own.look(key);
      if (mine !== undefined) return mine;
      const value = await ifAvailable(redis.command(at(key), ['GET', at(key)]));
      return stateOf(typeof value === 'string' ? value : '');
    },
    async settle(key, ms) {
      void own.settle(key, ms);
      await ifAvailable(redis.command(at(key), ['SET', at(key), SETTLED, 'PX', String(Math.round(ms))]));
    },
    listen: (key) => listeners.listen(ends === undefined ? key : ends.nameOf(key)),
  };
}
