import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { packageVersion } from '../../lib/package-root.ts';
import type { Service } from '../model/service.ts';
import type { Sharing } from '../sharing/sharing.ts';
import { type AudienceGuard, createAudienceGuard } from './audience-guard.ts';
import type { CacheOptions } from './cache-options.ts';
import { type ChangeFollower, createChangeFollower } from './change-follower.ts';
import { type SharedDemotions, shareDemotions } from './demotions.ts';
import { createPageCache, type PageCache } from './memory-pages.ts';
import type { OpenPageStore, PageStore } from './page-store.ts';
import { createSharedPages, followChanges, type SharedPages } from './shared-pages.ts';
import { createSharingPageStore } from './sharing-page-store.ts';

/** What the services of this folder use. */
export interface CacheNeeds {
  readonly settings: { readonly cache: CacheOptions; readonly redis: { readonly maxUnsyncedSeconds: number } };
  readonly start: { readonly openPageStore: OpenPageStore | undefined };
  readonly sharing: Sharing;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly changeFollower: ChangeFollower;
  readonly pageStore: PageStore;
  readonly sharedPages: SharedPages;
  readonly demotions: SharedDemotions;
  readonly cache: PageCache;
  readonly guard: AudienceGuard;
}

/** Decides what may still be served. It hears of changes first, so that what has changed is known before others are told. */
export const changeFollower: Service<ChangeFollower, CacheNeeds> = {
  start({ settings: { redis }, sharing: { changes }, clock }) {
    const follower = createChangeFollower({ clock, changes, maxUnsyncedSeconds: redis.maxUnsyncedSeconds });
    changes.listen(follower);
    return follower;
  },
};

/** Where pages are stored for all gateways: what they share, unless a feature has a store of its own. */
export const pageStore: Service<PageStore, CacheNeeds> = {
  start: ({ start: { openPageStore }, sharing, clock, logger }) =>
    openPageStore?.({ clock, logger }) ?? createSharingPageStore(sharing),
  close: (store) => store.close?.(),
};

/** The pages that gateways share. */
export const sharedPages: Service<SharedPages, CacheNeeds> = {
  start: ({ settings: { cache }, pageStore: store, changeFollower: changes, clock }) =>
    createSharedPages({
      store,
      changes,
      clock,
      maxEntryBytes: cache.maxEntryBytes,
      release: packageVersion(),
    }),
  use: (pages, { settings }) => pages.configure(settings.cache),
};

/** The demotions made by all gateways, which are applied to the guard and the cache in use. */
export const demotions: Service<SharedDemotions, CacheNeeds> = {
  start: ({ sharing, changeFollower: follower }) => shareDemotions(sharing, follower),
  use: (shared, { guard, cache }) => shared.applyTo({ guard, cache }),
};

/** The pages in the memory of this process. */
export const cache: Service<PageCache, CacheNeeds> = {
  dependsOn: ({ settings: { cache: options } }) => [
    options.maxBytes,
    options.maxEntryBytes,
    options.gzip,
    options.zstd,
  ],
  start: ({ settings, clock, changeFollower: changes, sharedPages: pages }) =>
    followChanges(createPageCache(settings.cache, clock, pages.compress), changes, pages),
};

/** Finds operations whose responses depend on the caller. The operations that it has found stay demoted. */
export const guard: Service<AudienceGuard, CacheNeeds> = {
  dependsOn: ({ settings }) => settings.cache.sampleShared,
  start: (
    {
      settings: {
        cache: { sampleShared },
      },
      random,
      logger,
      demotions: shared,
      changeFollower: { canMiss },
    },
    earlier,
  ) => openGuard({ sampleShared, random, demoted: earlier?.demoted() ?? [] }, canMiss, shared, logger),
};

function openGuard(
  options: Parameters<typeof createAudienceGuard>[0],
  canMiss: boolean,
  shared: SharedDemotions,
  logger: Logger,
): AudienceGuard {
  const onDemoted = (operation: string) => {
    logger.warn({ operation }, 'responses differ between callers: the pages are stored per caller from now on');
    shared.announce(operation);
  };
  const own = createAudienceGuard({ ...options, onDemoted });
  if (!canMiss) return own;
  // Until other gateways' demotions are known, every operation is treated as demoted.
  return { ...own, isDemoted: (id) => own.isDemoted(id) || !shared.areKnown() };
}
