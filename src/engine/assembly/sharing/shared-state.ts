import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { AudienceGuard } from '../../cache/audience-guard.ts';
import { isShared, audienceOfKey, operationOfKey } from '../../cache/stored-page.ts';
import { type ChangeFollower, changingTags, createChangeFollower } from '../../cache/change-follower.ts';
import type { PageCache } from '../../cache/page-cache.ts';
import { createRedisPageStore } from '../../cache/page-store.ts';
import { createSharedPages, isSharable, type SharedPages } from '../../cache/shared-pages.ts';
import type { Settings } from '../../config/settings.ts';
import { packageVersion } from '../../../lib/package-root.ts';
import { createRevocations, type Revocations } from '../../identity/identity-fleet.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ChangeListener, ChangeLog } from '../../model/change-log.ts';
import { type PageCounts, sharePageCounts } from '../../paging/page-counts.ts';
import { connectRedis, openFleetKey, type Redis } from '../../sharing/redis/connect-redis.ts';
import { openInstances } from '../../sharing/redis/instances.ts';
import type { Instances } from '../../sharing/redis/instance-facts.ts';
import { openRedisChangeLog } from '../../sharing/redis/redis-change-log.ts';
import { createSeal, type Seal } from '../../sharing/redis/seal.ts';
import type { RedisSecrets } from '../../sharing/redis/redis-options.ts';
import { type DocumentParts, openSharedDocument, type SharedDocument } from '../../sharing/redis/shared-document.ts';
import { createRedisMetrics, type RedisMetrics } from '../../telemetry/redis-metrics.ts';

/** The state that this gateway shares with the other gateways in its fleet. */
export interface SharedState {
  readonly redis: Redis;
  readonly changes: ChangeLog;
  /** Decides, based on the log of changes, which stored data may still be served. */
  readonly follower: ChangeFollower;
  readonly revocations: Revocations;
  /** The metrics for Redis and the log of changes. */
  readonly metrics: RedisMetrics;
  /** Returns whether Redis is available and how long this gateway may have been missing other gateways' changes. */
  status(): { readonly available: boolean; readonly unsyncedSeconds: number };
  readonly pages: SharedPages;
  /** Returns page counts that are shared with other gateways, and a function that looks up other gateways' counts. */
  sharePageCounts(counts: PageCounts, maxAgeSeconds: number): ReturnType<typeof sharePageCounts>;
  /** Passes the changes made by all gateways to another listener. Must be called before the first change arrives. */
  listen(listener: ChangeListener): void;
  /** All gateways that use the same Redis server and the same key prefix. */
  readonly instances: Instances;
  /** Opens a document that all gateways share. It is reread whenever a gateway changes it. */
  openDocument<T>(name: string, parts: OwnParts<T>): SharedDocument<T>;
  close(): Promise<void>;
}

/** The parts of a shared document that the caller of `openDocument` provides. */
type OwnParts<T> = Omit<DocumentParts<T>, 'redis' | 'name' | 'announce' | 'onFault'>;

/** Connects to Redis and follows the log of shared changes. */
export function openSharedState(
  { redis: options, cache: { maxEntryBytes } }: Pick<Settings, 'redis' | 'cache'>,
  secrets: RedisSecrets,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): SharedState {
  const metrics = createRedisMetrics();
  const redis = connectRedis(options, secrets, clock, {
    onState({ available, reason }) {
      if (available) logger.info('Redis is available: state is shared with the other gateways');
      else logger.warn({ reason }, 'Redis is not available: this gateway continues with its own memory');
    },
    onCommand: metrics.commanded,
  });
  const follower = createChangeFollower({
    clock,
    syncedAt: () => changes.syncedAt(),
    unapplied: () => changes.unapplied(),
    maxUnsyncedSeconds: options.maxUnsyncedSeconds,
  });
  const listeners: ChangeListener[] = [follower];
  const listener: ChangeListener = {
    apply: (change, number, own) => listeners.forEach((one) => one.apply(change, number, own)),
    reset: (position) => listeners.forEach((one) => one.reset(position)),
  };
  // The log is read asynchronously, so the listener is not called before this function returns.
  const documents: { close(): void }[] = [];
  const changes = openRedisChangeLog({
    redis,
    listener,
    clock,
    maxChanges: options.maxChanges,
    onFault: (message, err) => logger.error({ err }, message),
    onRefused: (reason) => {
      if (reason === undefined) logger.info('Redis accepts the changes of this gateway again');
      else logger.warn({ reason }, 'Redis refuses the changes of this gateway: stored pages are served only briefly');
    },
    onChange: metrics.changed,
  });
  const store = createRedisPageStore(redis);
  const seal = createSeal(secrets.sealKeys ?? []);
  let warnAgainAt = -Infinity;
  const onForged = () => {
    if (performance.now() < warnAgainAt) return;
    warnAgainAt = performance.now() + FORGED_WARNING_MS;
    logger.warn('Redis contains values that no gateway with this redis.sealKeyFile has written: they are ignored');
  };
  const release = packageVersion();
  const pages = createSharedPages({ store, changes: follower, clock, maxEntryBytes, release, seal, onForged });
  const revocations = createRevocations({
    key: openFleetKey(redis, 'callers'),
    changes,
    mayTrust: follower.mayServe,
  });
  listeners.push(revocations.listener);
  const openedAt = clock();
  const unsyncedSeconds = () => Math.max(0, clock() - Math.max(changes.syncedAt(), openedAt)) / 1000;
  const instances = openInstances(redis);
  metrics.watch({
    isAvailable: redis.isAvailable,
    unsyncedSeconds,
    sharedPages: pages.counts,
    instances: instances.list,
  });
  return {
    redis,
    changes,
    revocations,
    metrics,
    status: () => ({ available: redis.isAvailable(), unsyncedSeconds: unsyncedSeconds() }),
    follower,
    pages,
    sharePageCounts: (counts, maxAgeSeconds) =>
      sharePageCounts(counts, {
        clock,
        maxAgeSeconds,
        store: countStore(redis, seal, onForged),
        isSharable,
        position: follower.position,
        isValid: (key, tags, at) => follower.isValid(changingTags(key, tags), at),
        isSynced: follower.isSynced,
      }),
    listen: (one) => void listeners.push(one),
    instances,
    openDocument(name, parts) {
      const document = openSharedDocument({
        ...parts,
        redis,
        name,
        announce: () => changes.append({ kind: 'reread', document: name }),
        onFault: (message, err) => logger.error({ err }, message),
      });
      documents.push(document);
      listeners.push({
        apply(change, _number, own) {
          if (change.kind === 'reread' && change.document === name && !own) void document.sync();
        },
        reset: () => void document.sync(),
      });
      return document;
    },
    async close() {
      for (const document of documents) document.close();
      await instances.close();
      await changes.close();
      redis.close();
    },
  };
}

const countContextOf = (key: string) => `count\n${packageVersion()}\n${key}`;

/** The time between two warnings about values that are not sealed with the fleet's key, in milliseconds. */
const FORGED_WARNING_MS = 60_000;

/** Stores sealed page counts in Redis. The keys contain callers' names, so they are hashed. */
function countStore(redis: Redis, seal: Seal, onForged: () => void): Parameters<typeof sharePageCounts>[1]['store'] {
  const keyOf = (key: string) => redis.key(`count:${hash('sha256', `${packageVersion()}\n${key}`, 'base64url')}`);
  return {
    isAvailable: () => redis.isAvailable(),
    async get(key) {
      const sealed = await redis.command(keyOf(key), ['GET', keyOf(key)], { bytes: true });
      if (!Buffer.isBuffer(sealed)) return undefined;
      const value = seal.open(countContextOf(key), sealed);
      if (value === undefined) onForged();
      return value?.toString();
    },
    set(key, text, ms) {
      const value = seal.seal(countContextOf(key), Buffer.from(text));
      return redis.command(keyOf(key), ['SET', keyOf(key), value, 'PX', String(ms)]);
    },
  };
}

/**
 * The demotions made by all gateways. An operation is demoted when its responses are found to depend on the caller.
 */
export interface SharedDemotions {
  /** Returns whether this gateway knows the other gateways' demotions. */
  areKnown(): boolean;
  /** Announces a demotion to the other gateways, unless it came from them. */
  announce(operation: string): void;
  /** Starts applying the other gateways' demotions to these services. Must be called exactly once. */
  applyTo(services: DemotedServices): void;
}

/** The services to which demotions apply. A reload may replace them. */
interface DemotedServices {
  readonly guard: Pick<AudienceGuard, 'demote'>;
  readonly cache: Pick<PageCache, 'retain'>;
}

/**
 * The log of changes and, if Redis is configured, the connection to Redis. Without Redis, the log connects only the
 * processes of a single gateway.
 */
interface SharedDemotionsParts extends Pick<SharedState, 'changes' | 'listen'> {
  readonly redis?: Redis;
  readonly follower?: ChangeFollower;
}

/**
 * Shares the demotions of operations. Each demotion is stored both in the log of changes and in a Redis set, because
 * the log contains only the latest changes.
 */
export function shareDemotions({ changes, listen, redis, follower }: SharedDemotionsParts): SharedDemotions {
  const known = new Set<string>();
  const key = redis?.key('demoted') ?? '';
  let services: DemotedServices | undefined;
  let hasRead = redis === undefined;
  let isReading = false;

  const apply = (operation: string) => {
    known.add(operation);
    services?.guard.demote(operation);
    services?.cache.retain((one) => operationOfKey(one) !== operation || !isShared(audienceOfKey(one)));
  };
  const read = async () => {
    if (redis === undefined || hasRead || isReading) return;
    isReading = true;
    try {
      for (const operation of (await redis.command(key, ['SMEMBERS', key])) as string[]) apply(operation);
      hasRead = true;
    } catch {
      // Until the set has been read, every operation is treated as demoted. The next request triggers another attempt
      // to read it.
    }
    isReading = false;
  };
  listen({
    apply(change) {
      if (change.kind !== 'demote') return;
      apply(change.operation);
      redis?.command(key, ['SADD', key, change.operation]).catch(() => undefined);
    },
    reset() {
      // Redis may have lost the set, so the known demotions are added to it again.
      for (const operation of known) void changes.append({ kind: 'demote', operation });
      void read();
    },
  });
  return {
    areKnown() {
      if (!hasRead && follower?.position() !== undefined) void read();
      return hasRead && follower?.isSynced() !== false;
    },
    announce(operation) {
      if (known.has(operation)) return;
      known.add(operation);
      void changes.append({ kind: 'demote', operation });
    },
    applyTo(given) {
      services = given;
    },
  };
}
