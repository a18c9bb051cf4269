import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Service } from '../model/service.ts';
import { openSharing } from './open-sharing.ts';
import type { RedisObserver } from './redis/open-redis.ts';
import type { RedisOptions, RedisSecrets } from './redis/redis-options.ts';
import type { Sharing } from './sharing.ts';

/** What the port uses. */
export interface SharingNeeds {
  readonly settings: { readonly redis: RedisOptions };
  readonly start: { readonly redis: RedisSecrets | undefined };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redisMetrics: RedisObserver;
}

/** What this gateway shares with others. */
export const sharing: Service<Sharing, SharingNeeds> = {
  start: ({ settings: { redis }, start, clock, logger, redisMetrics: observer }) =>
    openSharing(redis, start.redis, { clock, logger, observer }),
  close: (opened) => opened.close(),
};
