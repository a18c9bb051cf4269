import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { openAlone } from './alone/open-alone.ts';
import { openRedis, type RedisObserver } from './redis/open-redis.ts';
import type { RedisOptions, RedisSecrets } from './redis/redis-options.ts';
import type { Sharing } from './sharing.ts';

/** Opens the port through which this gateway shares with others: in Redis if it is configured, otherwise alone. */
export function openSharing(
  options: RedisOptions,
  secrets: RedisSecrets | undefined,
  parts: { readonly clock: Clock; readonly logger: Logger; readonly observer: RedisObserver },
): Sharing {
  return secrets === undefined ? openAlone(parts.clock) : openRedis(options, secrets, parts);
}
