import { randomUUID } from 'node:crypto';
import type { Redis, RedisScript } from '../redis/connect-redis.ts';
import { type UploadMemory, uploadKey, type UploadVerdict } from './upload-memory.ts';

/** Claims uploads for all processes or gateways. */
export interface UploadClaims {
  /** Claims the upload with this key. Rejects if the others cannot be reached. The key contains only a hash. */
  claim(key: string, force: boolean): Promise<UploadVerdict>;
}

/**
 * Refuses uploads that another process or gateway is forwarding or has just forwarded. If the others cannot be reached,
 * only the uploads of this process count.
 */
export function shareUploads(own: UploadMemory, claims: UploadClaims): UploadMemory {
  return {
    async begin(attempt) {
      const local = await own.begin(attempt);
      if (local.verdict === 'duplicate') return local;
      const shared = await claims.claim(uploadKey(attempt), attempt.force).catch(() => undefined);
      if (shared?.verdict === 'duplicate') {
        local.finish(undefined);
        return shared;
      }
      return {
        verdict: 'first',
        finish(status) {
          local.finish(status);
          shared?.finish(status);
        },
      };
    },
  };
}

/** Other gateways do not recognize an upload that takes longer. This also limits how long a crash blocks an upload. */
const MAX_UPLOAD_MS = 600_000;

/** Claims an upload. Returns the value that another gateway has set, or an empty string. */
const CLAIM: RedisScript = {
  source: `
local held = redis.call('GET', KEYS[1])
if held then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''`,
};

/** Ends a claim: remembers the accepted upload for the window, or removes the claim if this gateway still has it. */
const FINISH: RedisScript = {
  source: `
if tonumber(ARGV[2]) > 0 then return redis.call('SET', KEYS[1], 'accepted', 'PX', ARGV[2]) end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/** Claims uploads in Redis. The options are read for each upload. */
export function redisUploadClaims(
  redis: Pick<Redis, 'key' | 'run'>,
  options: { readonly duplicateWindowSeconds: number },
): UploadClaims {
  return {
    async claim(hash, force) {
      const key = redis.key('upload', hash);
      const holder = randomUUID();
      const windowMs = Math.round(options.duplicateWindowSeconds * 1000);
      const held = windowMs > 0 ? String(await redis.run(CLAIM, [key], [holder, String(MAX_UPLOAD_MS)])) : '';
      if (held !== '' && !force)
        return { verdict: 'duplicate', because: held === 'accepted' ? 'accepted' : 'in flight' };
      return {
        verdict: 'first',
        finish(status) {
          const isAccepted = status !== undefined && status >= 200 && status < 300;
          redis.run(FINISH, [key], [holder, isAccepted ? String(windowMs) : '0']).catch(() => undefined);
        },
      };
    },
  };
}
