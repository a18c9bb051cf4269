import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Redis } from './connect-redis.ts';

/**
 * A random key that all gateways of a fleet share through Redis. It turns names and addresses into hashes, so that the
 * keys and changes in Redis do not contain them. Whoever can read Redis can read the key too, and can then test whether
 * a known name was used.
 */
export interface FleetKey {
  /** Where Redis stores the key. Other keys with the same group are on the same node of a cluster. */
  readonly at: string;
  /** Identifies the key without revealing it. Undefined until it has been read. */
  id(): string | undefined;
  /** Reads the key, and creates it if Redis has none. Rejects with `RedisUnavailable`. */
  read(): Promise<void>;
  /** Hashes the texts. The key must have been read. */
  hash(...texts: readonly string[]): string;
}

/** Opens the key of a group. */
export function openFleetKey(redis: Redis, group: string): FleetKey {
  const at = redis.key(group, 'key');
  let key: string | undefined;
  let id: string | undefined;
  return {
    at,
    id: () => id,
    async read() {
      // If Redis has lost its data, the gateways restore the key that they know.
      await redis.command(at, ['SET', at, key ?? randomBytes(32).toString('base64url'), 'NX']);
      key = String(await redis.command(at, ['GET', at]));
      // SHA-1 is the only hash that scripts can compute. It identifies a random key of 256 bits, and protects nothing else.
      id = createHash('sha1').update(key).digest('hex');
    },
    hash(...texts) {
      if (key === undefined) throw new Error('the key has not been read');
      // The input includes each length, so that different lists never produce the same input.
      const text = texts.map((one) => `${one.length}:${one}`).join('');
      return createHmac('sha256', key).update(text).digest('base64url');
    },
  };
}
