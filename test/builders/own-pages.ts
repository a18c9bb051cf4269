import { createChangeFollower } from '../../src/engine/cache/change-follower.ts';
import { createSharingPageStore } from '../../src/engine/cache/sharing-page-store.ts';
import { createSharedPages, isSharable, type SharedPages } from '../../src/engine/cache/shared-pages.ts';
import { createPageCounts, type PageCounts, sharePageCounts } from '../../src/engine/paging/page-counts.ts';
import { openAlone } from '../../src/engine/sharing/alone/open-alone.ts';
import type { Clock } from '../../src/lib/clock.ts';

/** Creates the second level of the page cache of a gateway that shares with nobody. */
export function ownPages(clock: Clock): SharedPages {
  const sharing = openAlone(clock);
  const changes = createChangeFollower({ clock, changes: sharing.changes, maxUnsyncedSeconds: 5 });
  return createSharedPages({
    store: createSharingPageStore(sharing),
    changes,
    clock,
    maxEntryBytes: 1 << 16,
    release: 'r',
  });
}

/** Returns the page counts of other gateways for a gateway that shares with nobody. */
export function ownPageCounts(clock: Clock, counts?: PageCounts) {
  const changes = createChangeFollower({ clock, changes: openAlone(clock).changes, maxUnsyncedSeconds: 5 });
  return sharePageCounts(counts ?? createPageCounts({ maxAgeSeconds: 300, maxEntries: 10 }, clock), {
    clock,
    maxAgeSeconds: 300,
    store: openAlone(clock).map('count'),
    isSharable,
    position: changes.position,
    isValid: () => true,
    isSynced: undefined,
  }).shared;
}
