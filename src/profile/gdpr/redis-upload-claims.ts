import { randomUUID } from 'node:crypto';
import type { Redis, RedisScript } from '../../engine/sharing/redis/connect-redis.ts';
import type { UploadClaims } from './shared-uploads.ts';

/**
 * How long a claim on an upload in progress lasts, in milliseconds. If an upload takes longer, other gateways no longer
 * recognize duplicates of it. If a gateway crashes, its uploads are blocked for at most this long.
 */
const MAX_UPLOAD_MS = 600_000;

/** Claims an upload. Returns an empty string or, if the upload has already been claimed, the stored value. */
const CLAIM: RedisScript = {
  source: `
local held = redis.call('GET', KEYS[1])
if held then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''`,
};

/** Returns the stored value of an upload, or an empty string if the upload has not been claimed. */
const READ: RedisScript = { source: `return redis.call('GET', KEYS[1]) or ''` };

/** Ends a claim: remembers the accepted upload for the given time, or removes the claim if this gateway holds it. */
const FINISH: RedisScript = {
  source: `
if tonumber(ARGV[2]) > 0 then return redis.call('SET', KEYS[1], 'accepted', 'PX', ARGV[2]) end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/** Uses Redis to store claims on uploads. */
export function redisUploadClaims(redis: Pick<Redis, 'key' | 'run'>): UploadClaims {
  return {
    async claim(hashed, { force, isPeek = false, windowMs }) {
      const key = redis.key('upload', hashed);
      const holder = randomUUID();
      const claim = () =>
        isPeek ? redis.run(READ, [key], []) : redis.run(CLAIM, [key], [holder, String(MAX_UPLOAD_MS)]);
      const held = windowMs > 0 ? String(await claim()) : '';
      if (held !== '' && !force)
        return { verdict: 'duplicate', because: held === 'accepted' ? 'accepted' : 'in flight' };
      if (isPeek) return { verdict: 'first', finish: () => undefined };
      return {
        verdict: 'first',
        finish(status) {
          const isAccepted = status !== undefined && status >= 200 && status < 300;
          redis.run(FINISH, [key], [holder, isAccepted ? String(Math.round(windowMs)) : '0']).catch(() => undefined);
        },
      };
    },
  };
}
