import type { Redis, RedisScript } from '../sharing/redis/connect-redis.ts';

/**
 * The second level of the cache, which stores bytes under the hash of the cache key. It also provides the locks that
 * gateways acquire before fetching pages. All methods that return a promise reject if the store is unavailable.
 */
export interface PageStore {
  isAvailable(): boolean;
  get(hash: string): Promise<Buffer | undefined>;
  /** Stores a value for `ms` milliseconds. */
  set(hash: string, value: Buffer, ms: number): Promise<void>;
  drop(hash: string): Promise<void>;
  /** Acquires a page's lock for `ms` milliseconds. Returns false if the lock is already held. */
  lock(hash: string, token: string, ms: number): Promise<boolean>;
  /** Extends the lock if this token still holds it. */
  renew(hash: string, token: string, ms: number): Promise<void>;
  /** Releases the lock if this token still holds it, and reports to all processes whether the page was stored. */
  release(hash: string, token: string, stored: boolean): Promise<void>;
  /**
   * Calls the listener whenever this gateway or another one finishes fetching a page. Some notifications may be lost.
   */
  onFilled(listener: (hash: string, stored: boolean) => void): void;
}

const RENEW: RedisScript = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
};

const RELEASE: RedisScript = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1`,
};

/**
 * Creates a store in Redis. Each page has its own hash tag, so a Redis cluster distributes the pages among its nodes.
 */
export function createRedisPageStore(redis: Redis): PageStore {
  const valueOf = (hash: string) => redis.key(`page:${hash}`);
  const lockOf = (hash: string) => redis.key(`page:${hash}`, 'lock');
  const channel = redis.key('filled');
  return {
    isAvailable: () => redis.isAvailable(),
    async get(hash) {
      const value = await redis.command(valueOf(hash), ['GET', valueOf(hash)], { bytes: true });
      return Buffer.isBuffer(value) ? value : undefined;
    },
    async set(hash, value, ms) {
      await redis.command(valueOf(hash), ['SET', valueOf(hash), value, 'PX', String(ms)]);
    },
    async drop(hash) {
      await redis.command(valueOf(hash), ['DEL', valueOf(hash)]);
    },
    async lock(hash, token, ms) {
      const key = lockOf(hash);
      return (await redis.command(key, ['SET', key, token, 'NX', 'PX', String(ms)])) !== null;
    },
    async renew(hash, token, ms) {
      await redis.run(RENEW, [lockOf(hash)], [token, String(ms)]);
    },
    async release(hash, token, stored) {
      await redis.run(RELEASE, [lockOf(hash)], [token, channel, `${stored ? '+' : '-'}${hash}`]);
    },
    onFilled(listener) {
      void redis.subscribe(channel, (message) => listener(message.slice(1), message.startsWith('+')));
    },
  };
}
