import type { Clock } from '../../lib/clock.ts';
import { type ChangeFollower, changingTags } from '../cache/change-follower.ts';
import type { CacheOptions } from '../cache/cache-options.ts';
import type { PageCache } from '../cache/memory-pages.ts';
import { isSharable } from '../cache/shared-pages.ts';
import type { Service } from '../model/service.ts';
import { createPageCounts, type PageCounts, type SharedPageCounts, sharePageCounts } from '../paging/page-counts.ts';
import type { PagingOptions } from '../paging/paging-options.ts';
import type { NameRule } from '../model/caller-name.ts';
import { createAuthorLookup, createOwnership, type FetchJson, type Ownership } from '../permissions/ownership.ts';
import type { PermissionsOptions } from '../permissions/permissions-options.ts';
import type { Sharing } from '../sharing/sharing.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import type { Sessions } from '../upstream/sessions.ts';
import { createLookup } from './owner-lookup.ts';
import { createFailingPages, type FailingPages } from './stages/isolate-page.ts';

/** What the services of this folder use. */
export interface PipelineNeeds {
  readonly settings: {
    readonly cache: CacheOptions;
    readonly pageBounds: PagingOptions;
    readonly permissions: PermissionsOptions;
    readonly roles: { readonly names: NameRule };
  };
  readonly clock: Clock;
  readonly sharing: Sharing;
  readonly changeFollower: ChangeFollower;
  readonly upstream: Upstream;
  readonly sessions: Sessions;
  readonly lookUp: FetchJson;
  current(): { readonly cache: PageCache; readonly pageCounts: LearnedCounts } | undefined;
}

/** The page counts in memory, and those of other gateways. */
export interface LearnedCounts {
  readonly counts: PageCounts;
  /** The counts of other gateways. */
  readonly shared: SharedPageCounts;
}

/** The page counts learned from responses. */
export const pageCounts: Service<LearnedCounts, PipelineNeeds> = {
  dependsOn: ({ settings }) => settings.pageBounds,
  start: ({ settings: { pageBounds }, clock, sharing, changeFollower }) =>
    openPageCounts(pageBounds, clock, sharing, changeFollower),
};

function openPageCounts(options: PagingOptions, clock: Clock, sharing: Sharing, follower: ChangeFollower) {
  return sharePageCounts(createPageCounts(options, clock), {
    clock,
    maxAgeSeconds: options.maxAgeSeconds,
    store: sharing.map('count'),
    isSharable,
    position: follower.position,
    isValid: (key, tags, at) => follower.isValid(changingTags(key, tags), at),
    isSynced: follower.canMiss ? follower.isSynced : undefined,
  });
}

/** Fetches what decisions depend on. */
export const lookUp: Service<FetchJson, PipelineNeeds> = {
  dependsOn: ({ upstream, sessions }) => [upstream, sessions],
  start: ({ upstream, sessions }) => createLookup(upstream, sessions),
};

/** Who has written what. */
export const ownership: Service<Ownership, PipelineNeeds> = {
  dependsOn: ({ settings, lookUp: fetched }) => [settings.permissions.ownership, settings.roles.names, fetched],
  start: ({ settings: { permissions, roles }, clock, lookUp: fetched }) =>
    createOwnership(permissions.ownership, clock, roles.names, createAuthorLookup(permissions.ownership, fetched)),
};

/** The pages whose most recent fetch failed. */
export const failingPages: Service<FailingPages, PipelineNeeds> = {
  dependsOn: ({ settings, upstream }) => [settings.cache.failures, upstream],
  start: ({ settings: { cache }, clock }) => createFailingPages(cache.failures, clock),
};

/**
 * Removes all pages and page counts, or only those with any of the given tags. Returns the number of pages removed in
 * this process. If gateways share state, returns a promise that resolves to this number once the others can see the
 * purge.
 */
export type PurgeEverywhere = (tags: readonly string[] | 'all') => number | Promise<number>;

/**
 * Purges on all gateways. The purges of this gateway are applied a second time when they appear in the log of changes,
 * because a page that another gateway fetched before the purge may have been stored in the meantime.
 */
export const purge: Service<PurgeEverywhere, PipelineNeeds> = {
  start({ current, sharing: { changes } }) {
    const purgeHere = (tags: readonly string[] | 'all') => {
      const inUse = current();
      if (inUse === undefined) return 0;
      const {
        cache,
        pageCounts: { counts },
      } = inUse;
      if (tags === 'all') counts.dropAll();
      else counts.drop(tags);
      return tags === 'all' ? cache.purgeAll() : cache.purge(tags);
    };
    changes.listen({
      apply(change) {
        if (change.kind === 'purge') purgeHere(change.tags);
      },
      reset: () => void purgeHere('all'),
    });
    return (tags) => {
      const pages = purgeHere(tags);
      return changes.append({ kind: 'purge', tags })?.then(() => pages) ?? pages;
    };
  },
};
