import { hash } from 'node:crypto';
import type { SharedMap } from '../sharing.ts';
import type { Redis } from './connect-redis.ts';
import type { Seal } from '../../../lib/seal.ts';

/**
 * Hashes a key, because keys can contain names of callers. Gateways of different releases have different hashes, because
 * what is stored under a key may have another meaning to them.
 */
export const hashOfKey = (release: string, key: string) => hash('sha256', `${release}\n${key}`, 'base64url');

/** How a map protects its values. */
interface MapParts {
  readonly seal: Seal;
  readonly release: string;
  /** Called when a value was found that was not sealed for its key with a key of the fleet. */
  readonly onForged: () => void;
}

/**
 * Opens a map whose values are sealed for their key. Each key has its own hash tag, so that a cluster distributes the
 * values among its nodes.
 */
export function openRedisMap(redis: Redis, name: string, { seal, release, onForged }: MapParts): SharedMap {
  const keyOf = (key: string) => redis.key(`${name}:${hashOfKey(release, key)}`);
  const contextOf = (key: string) => `${name}\n${release}\n${key}`;
  return {
    isShared: () => redis.isAvailable(),
    async get(key) {
      const at = keyOf(key);
      const sealed = await redis.command(at, ['GET', at], { bytes: true });
      if (!Buffer.isBuffer(sealed)) return undefined;
      const value = seal.open(contextOf(key), sealed);
      if (value === undefined) onForged();
      return value ?? 'forged';
    },
    async set(key, value, ms) {
      const at = keyOf(key);
      await redis.command(at, ['SET', at, seal.seal(contextOf(key), value), 'PX', String(ms)]);
    },
    async drop(key) {
      const at = keyOf(key);
      await redis.command(at, ['DEL', at]);
    },
  };
}
