import { hash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { Redis, RedisScript } from '../redis/connect-redis.ts';
import type { GdprOptions } from './gdpr-options.ts';

/** A GDPR upload that is about to be forwarded. */
export interface UploadAttempt {
  /** The audience of the caller's principal, which never contains a credential. */
  readonly caller: string;
  readonly body: Buffer;
  readonly force: boolean;
}

/** The result of checking an upload. If the verdict is `first`, `finish` must be called when the upload ends. */
type UploadVerdict =
  | {
      readonly verdict: 'first';
      /**
       * Records the outcome of the upload. `status` is undefined if there was no response. Further calls have no
       * effect.
       */
      readonly finish: (status: number | undefined) => void;
    }
  | { readonly verdict: 'duplicate'; readonly because: 'in flight' | 'accepted' };

/** Remembers the uploads in progress and those that were accepted recently. */
export interface UploadMemory {
  begin(attempt: UploadAttempt): UploadVerdict | Promise<UploadVerdict>;
}

/** Returns a hash of the caller and the body, which identifies an upload. */
export function uploadKey({ caller, body }: Pick<UploadAttempt, 'caller' | 'body'>): string {
  return hash('sha256', JSON.stringify([caller, hash('sha256', body, 'base64url')]), 'base64url');
}

/** The maximum number of accepted uploads to remember. The least recently used upload is forgotten first. */
const MAX_REMEMBERED = 10_000;

/**
 * Creates a memory without uploads (rules, 9). The options are read for each upload. `claim` begins an upload, given
 * its key.
 */
export function createUploadMemory(clock: Clock, options: Pick<GdprOptions, 'duplicateWindowSeconds'>) {
  const windowMs = () => options.duplicateWindowSeconds * 1000;
  const acceptedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  // This map cannot grow indefinitely, because the server limits the number of uploads in progress.
  const inProgress = new Map<string, number>();

  const isAccepted = (key: string) => {
    const at = acceptedAt.get(key);
    return at !== undefined && Math.abs(clock() - at) < windowMs();
  };

  const claim = (key: string, force: boolean): UploadVerdict => {
    const running = inProgress.get(key) ?? 0;
    if (!force && windowMs() > 0) {
      if (running > 0) return { verdict: 'duplicate', because: 'in flight' };
      if (isAccepted(key)) return { verdict: 'duplicate', because: 'accepted' };
    }
    inProgress.set(key, running + 1);
    let finished = false;
    return {
      verdict: 'first',
      finish(status) {
        if (finished) return;
        finished = true;
        const left = (inProgress.get(key) ?? 1) - 1;
        if (left > 0) inProgress.set(key, left);
        else inProgress.delete(key);
        if (status !== undefined && status >= 200 && status < 300) acceptedAt.set(key, clock());
      },
    };
  };
  return { claim, begin: (attempt: UploadAttempt) => claim(uploadKey(attempt), attempt.force) };
}

/** Claims uploads on behalf of all processes or gateways. */
export interface UploadClaims {
  /** Claims the upload with this key, which is a hash. Rejects if the other processes or gateways cannot be reached. */
  claim(key: string, force: boolean): Promise<UploadVerdict>;
}

/**
 * Refuses uploads that another process or gateway is forwarding or has recently forwarded. If the other processes or
 * gateways cannot be reached, only this process's own uploads are considered.
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

/**
 * How long a claim on an upload in progress lasts, in milliseconds. If an upload takes longer, other gateways no longer
 * recognize a duplicate. After a crash, the upload is blocked for at most this long.
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

/** Ends a claim: remembers the accepted upload for the window, or removes the claim if this gateway holds it. */
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
    async claim(hashed, force) {
      const key = redis.key('upload', hashed);
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
