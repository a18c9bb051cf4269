import { createHash, randomBytes } from 'node:crypto';
import { ifAvailable, type Redis } from './connect-redis.ts';
import { hashTexts } from '../hash-texts.ts';
import type { SharedHash } from '../sharing.ts';

/**
 * A random key that all gateways in a fleet share through Redis. Names and addresses are hashed with this key, so that
 * neither the Redis keys nor the entries in the change log contain them. Anyone who can read Redis can also read this
 * key, and can then test whether a known name was used.
 */
interface FleetKey {
  /** Where Redis stores the key. Other keys with the same group are on the same node in a cluster. */
  readonly at: string;
  /** An identifier for the key that does not reveal it. Undefined until the key has been read. */
  id(): string | undefined;
  /** Reads the key. If Redis has no key, creates it. Rejects with `RedisUnavailable`. */
  read(): Promise<void>;
  /** Hashes the strings with the key. Call `read` first. */
  hash(...texts: readonly string[]): string;
}

/** Returns the shared key for a group. Call `read` before using it. */
export function openFleetKey(redis: Redis, group: string): FleetKey {
  const at = redis.key(group, 'key');
  let key: string | undefined;
  let id: string | undefined;
  return {
    at,
    id: () => id,
    async read() {
      // If Redis has lost its data, the gateways write the key back to Redis.
      await redis.command(at, ['SET', at, key ?? randomBytes(32).toString('base64url'), 'NX']);
      key = String(await redis.command(at, ['GET', at]));
      // SHA-1 is the only hash that scripts can compute. Here, it only identifies a random key of 256 bits.
      id = createHash('sha1').update(key).digest('hex');
    },
    hash(...texts) {
      if (key === undefined) throw new Error('the key has not been read');
      return hashTexts(key, texts);
    },
  };
}

/** The interval at which a key is read again, in milliseconds, in case Redis has lost its data. */
const REREAD_MS = 60_000;

/**
 * Returns a function that hashes strings with a group's key. It returns undefined while the key is unknown because Redis
 * is unavailable.
 */
export function openFleetHash(
  redis: Redis,
  group: string,
): (...texts: readonly string[]) => Promise<string | undefined> {
  const key = openFleetKey(redis, group);
  let readAt = -Infinity;
  let reading = Promise.resolve();
  const read = async () => {
    const isRead = await ifAvailable(key.read().then(() => true));
    if (isRead !== true) readAt = -Infinity;
  };
  return async (...texts) => {
    const now = performance.now();
    if (now - readAt > REREAD_MS) {
      readAt = now;
      reading = read();
    }
    if (key.id() === undefined) await reading;
    return key.id() === undefined ? undefined : key.hash(...texts);
  };
}

/** Returns the hash that only the gateways of the fleet can compute. */
export function openRedisHash(redis: Redis, group: string): SharedHash {
  const key = openFleetKey(redis, group);
  return {
    id: key.id,
    read: () => ifAvailable(key.read()),
    hash: key.hash,
  };
}
