import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { ChangeListener, ChangeLog } from '../model/change-log.ts';
import { connectRedis, type Redis } from '../redis/connect-redis.ts';
import { openRedisChangeLog } from '../redis/redis-change-log.ts';
import type { RedisSecrets } from '../redis/redis-secrets.ts';

/** The state that this gateway shares with the other gateways of its fleet. */
export interface SharedState {
  readonly redis: Redis;
  readonly changes: ChangeLog;
  close(): Promise<void>;
}

/** Connects to Redis and follows the log of shared changes. */
export function openSharedState(
  { redis: options }: Pick<Settings, 'redis'>,
  secrets: RedisSecrets,
  { clock, logger, listener }: { readonly clock: Clock; readonly logger: Logger; readonly listener: ChangeListener },
): SharedState {
  const redis = connectRedis(options, secrets, clock, {
    onState({ available, reason }) {
      if (available) logger.info('Redis is available: state is shared with the other gateways');
      else logger.warn({ reason }, 'Redis is not available: this gateway continues with its own memory');
    },
  });
  const changes = openRedisChangeLog({
    redis,
    listener,
    clock,
    maxChanges: options.maxChanges,
    onFault: (message, err) => logger.error({ err }, message),
  });
  return {
    redis,
    changes,
    async close() {
      await changes.close();
      redis.close();
    },
  };
}
