import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { packageVersion } from '../../../lib/package-root.ts';
import type { SharedChange } from '../../model/change-log.ts';
import { openAlone } from '../alone/open-alone.ts';
import type { Sharing } from '../sharing.ts';
import { connectRedis, type Redis, type RedisOutcome } from './connect-redis.ts';
import { openRedisHash } from './fleet-key.ts';
import { openInstances } from './instances.ts';
import { openRedisChangeLog } from './redis-change-log.ts';
import { type ClaimPlaces, openRedisClaims } from './redis-claims.ts';
import { openRedisCounters } from './redis-counters.ts';
import { openRedisDocument } from './redis-document.ts';
import { openRedisLines } from './redis-lines.ts';
import { hashOfKey, openRedisMap } from './redis-map.ts';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';
import { openRedisWindows } from './redis-windows.ts';
import { createSeal } from '../../../lib/seal.ts';

/** What is counted of the work with Redis. */
export interface RedisObserver {
  /** Called after every command, with its duration in milliseconds. */
  readonly commanded: (outcome: RedisOutcome, milliseconds: number) => void;
  /** Called for every applied change. `own` is true if this process made it. */
  readonly changed: (kind: SharedChange['kind'], own: boolean) => void;
}

/** The time between two warnings about values that are not sealed with the fleet's key, in milliseconds. */
const FORGED_WARNING_MS = 60_000;

/** Connects to Redis, and opens the port of a gateway that shares with all others that use the same prefix there. */
export function openRedis(
  options: RedisOptions,
  secrets: RedisSecrets,
  { clock, logger, observer }: { readonly clock: Clock; readonly logger: Logger; readonly observer: RedisObserver },
): Sharing {
  const redis = connectRedis(options, secrets, clock, {
    onState({ available, reason }) {
      if (available) logger.info('Redis is available: state is shared with the other gateways');
      else logger.warn({ reason }, 'Redis is not available: this gateway continues with its own memory');
    },
    onCommand: observer.commanded,
  });
  return shareThrough(redis, { options, sealKeys: secrets.sealKeys ?? [], clock, logger, onChange: observer.changed });
}

/** What sharing through a connection depends on. */
interface RedisSharingParts {
  readonly options: Pick<RedisOptions, 'maxChanges'>;
  readonly sealKeys: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange?: RedisObserver['changed'];
}

/** Opens the port through a connection. Closing the port closes the connection. */
export function shareThrough(redis: Redis, parts: RedisSharingParts): Sharing {
  const { options, sealKeys, clock, logger, onChange } = parts;
  const changes = openRedisChangeLog({
    redis,
    clock,
    maxChanges: options.maxChanges,
    onFault: (message, err) => logger.error({ err }, message),
    onRefused: (reason) => {
      if (reason === undefined) logger.info('Redis accepts the changes of this gateway again');
      else logger.warn({ reason }, 'Redis refuses the changes of this gateway: stored pages are served only briefly');
    },
    ...(onChange && { onChange }),
  });
  const own = openAlone(clock);
  const release = packageVersion();
  const seal = createSeal(sealKeys);
  let warnAgainAt = -Infinity;
  const onForged = () => {
    if (performance.now() < warnAgainAt) return;
    warnAgainAt = performance.now() + FORGED_WARNING_MS;
    logger.warn('Redis contains values that no gateway with this redis.sealKeyFile has written: they are ignored');
  };
  const places: Readonly<Record<'page' | 'upload' | 'work', ClaimPlaces>> = {
    page: {
      at: (key) => redis.key(`page:${hashOfKey(release, key)}`, 'lock'),
      ends: { channel: redis.key('filled'), nameOf: (key) => hashOfKey(release, key) },
    },
    upload: { at: (key) => redis.key('upload', key) },
    work: { at: (key) => redis.key('work', key) },
  };
  const instances = openInstances(redis);
  const documents: { close(): void }[] = [];
  const openedAt = clock();
  return {
    changes,
    map: (name) => openRedisMap(redis, name, { seal, release, onForged }),
    claims: (name) => openRedisClaims(redis, own.claims(name), places[name]),
    counters: (name, max) => openRedisCounters(redis, name, own.counters(name, max)),
    windows: (name, max) => openRedisWindows(redis, name, own.windows(name, max)),
    keyedHash: (name) => openRedisHash(redis, name),
    set(name) {
      const key = redis.key(name);
      return {
        members: async () => (await redis.command(key, ['SMEMBERS', key])) as string[],
        add: async (member) => void (await redis.command(key, ['SADD', key, member])),
      };
    },
    openDocument(name, given) {
      const document = openRedisDocument({
        ...given,
        redis,
        name,
        announce: () => changes.append({ kind: 'reread', document: name }),
        onFault: (message, err) => logger.error({ err }, message),
      });
      documents.push(document);
      changes.listen({
        apply(change, _number, isOwn) {
          if (change.kind === 'reread' && change.document === name && !isOwn) void document.sync();
        },
        reset: () => void document.sync(),
      });
      return document;
    },
    lines: (name, max, shown) => openRedisLines(redis, name, max, shown),
    instances,
    status: () => ({
      available: redis.isAvailable(),
      unsyncedSeconds: Math.max(0, clock() - Math.max(changes.syncedAt(), openedAt)) / 1000,
    }),
    seal,
    redis,
    async close() {
      for (const document of documents) document.close();
      await instances.close();
      await changes.close();
      redis.close();
    },
  };
}
