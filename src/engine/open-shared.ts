import type { Logger } from 'pino';
import type { Clock } from '../lib/clock.ts';
import { packageVersion } from '../lib/package-root.ts';
import { type ChangeFollower, createChangeFollower } from './cache/change-follower.ts';
import { type SharedDemotions, shareDemotions } from './cache/demotions.ts';
import type { OpenPageStore } from './cache/page-store.ts';
import { createSharingPageStore } from './cache/sharing-page-store.ts';
import { createSharedPages, type SharedPages } from './cache/shared-pages.ts';
import type { Settings } from './config/settings.ts';
import { createRevocations, type Revocations } from './identity/revocations.ts';
import { openSharing } from './sharing/open-sharing.ts';
import type { Sharing } from './sharing/sharing.ts';
import { createRedisMetrics, type RedisMetrics } from './telemetry/redis-metrics.ts';
import type { Start } from './load-start.ts';

/** What this gateway shares with others, and what follows from their changes. It exists until the gateway is closed. */
export interface Shared {
  readonly sharing: Sharing;
  /** Decides, based on the log of changes, which stored data may still be served. */
  readonly follower: ChangeFollower;
  readonly pages: SharedPages;
  readonly revocations: Revocations;
  readonly demotions: SharedDemotions;
  /** The metrics of Redis. Undefined if Redis is not configured. */
  readonly metrics: RedisMetrics | undefined;
  close(): Promise<void>;
}

interface SharedParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Opens the store of pages of a feature. Undefined if none has one. */
  readonly openPageStore: OpenPageStore | undefined;
}

/** Opens what this gateway shares: through Redis if it is configured, otherwise with nobody. */
export function openShared(
  { redis, cache: { maxEntryBytes } }: Settings,
  { redis: secrets }: Start,
  { clock, logger, openPageStore }: SharedParts,
): Shared {
  const metrics = createRedisMetrics();
  const sharing = openSharing(redis, secrets, { clock, logger, observer: metrics });
  const { changes } = sharing;
  const follower = createChangeFollower({ clock, changes, maxUnsyncedSeconds: redis.maxUnsyncedSeconds });
  // The listeners are called in this order, so what has changed is known before anybody is told.
  changes.listen(follower);
  const release = packageVersion();
  const store = openPageStore?.({ clock, logger }) ?? createSharingPageStore(sharing);
  const pages = createSharedPages({ store, changes: follower, clock, maxEntryBytes, release });
  const revocations = createRevocations(sharing, follower.mayServe);
  const demotions = shareDemotions(sharing, follower);
  metrics.watch({
    isAvailable: () => sharing.status()?.available ?? false,
    unsyncedSeconds: () => sharing.status()?.unsyncedSeconds ?? 0,
    sharedPages: pages.counts,
    instances: sharing.instances.list,
  });
  return {
    sharing,
    follower,
    pages,
    revocations,
    demotions,
    metrics: secrets && metrics,
    async close() {
      await store.close?.();
      await sharing.close();
    },
  };
}
