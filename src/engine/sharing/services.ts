import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Service } from '../model/service.ts';
import { openAlone } from './alone/open-alone.ts';
import { openRedis, type RedisObserver } from './redis/open-redis.ts';
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

/** The port through which this gateway shares with others: in Redis if it is configured, otherwise alone. */
export const sharing: Service<Sharing, SharingNeeds> = {
  start: ({ settings, start: { redis: secrets }, clock, logger, redisMetrics: observer }) =>
    secrets === undefined ? openAlone(clock) : openRedis(settings.redis, secrets, { clock, logger, observer }),
  close: (opened) => opened.close(),
};
