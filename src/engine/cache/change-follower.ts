import type { Clock } from '../../lib/clock.ts';
import { createTagGenerations } from '../../lib/tag-generations.ts';
import type { LogPosition, SharedChange } from '../model/change-log.ts';
import type { ChangeListener, ChangeLog } from '../sharing/sharing.ts';
import { isShared, audienceOfKey, operationOfKey } from './stored-page.ts';
import { invalidatingTags, purgeReach } from './tags.ts';

/** Follows the log of changes to determine which data may still be served. */
export interface ChangeFollower extends ChangeListener {
  /** The position of the latest applied change. Undefined until the log has been read for the first time. */
  position(): LogPosition | undefined;
  /**
   * Returns whether data that another process began to fetch at log position `at` is still valid. `tags` contains all
   * tags that invalidate the data.
   */
  isValid(tags: ReadonlySet<string>, at: LogPosition): boolean;
  /**
   * Returns whether data that reflects the state at `asOf` (epoch milliseconds) may be served. While this process
   * cannot receive changes, data that may be more than `maxUnsyncedSeconds` out of date must not be served.
   */
  mayServe(asOf: number): boolean;
  /** Returns whether this process has received all changes made up to `maxUnsyncedSeconds` ago. */
  isSynced(): boolean;
  /** False if no change can be missed, so that everything may be served and `isSynced` is always true. */
  readonly canMiss: boolean;
}

interface ChangeFollowerParts {
  readonly clock: Clock;
  readonly changes: Pick<ChangeLog, 'syncedAt' | 'unapplied' | 'canMiss'>;
  /** How long data may be served while changes cannot be received, in seconds. */
  readonly maxUnsyncedSeconds: number;
}

/**
 * The maximum number of tags for which the latest change is remembered. Beyond this number, older pages are treated as
 * invalid.
 */
const MAX_TAGS = 50_000;
/** The tag that stands for all tags. It is an empty string, which is never the tag of a page. */
const ALL = '';

/** Creates a follower, which must listen to the log of changes before the caches do. */
export function createChangeFollower({
  clock,
  changes: { syncedAt, unapplied, canMiss },
  maxUnsyncedSeconds,
}: ChangeFollowerParts): ChangeFollower {
  const maxMs = maxUnsyncedSeconds * 1000;
  let position: LogPosition | undefined;
  let generations = createTagGenerations(MAX_TAGS);

  // A page from another process can be compared with a change only once the change has a position in the log. Until
  // then, the pages that the change affects must not be used.
  const isChanging = (tags: ReadonlySet<string>) => {
    for (const change of unapplied()) for (const tag of reachOf(change)) if (tag === ALL || tags.has(tag)) return true;
    return false;
  };
  const mayServe = (asOf: number) => {
    const now = clock();
    const synced = syncedAt();
    // If the clock was set back, the time since the last synchronization is unknown.
    return now - Math.max(asOf, synced <= now ? synced : -Infinity) <= maxMs;
  };

  return {
    position: () => position,
    apply(change, number) {
      if (position !== undefined) position = { lineage: position.lineage, number };
      if (change.kind === 'purge' && change.tags === 'all') generations.moveAll(number);
      else generations.move(reachOf(change), number);
    },
    reset(to) {
      position = to;
      generations = createTagGenerations(MAX_TAGS);
      generations.moveAll(to.number);
    },
    isValid: (tags, at) =>
      position?.lineage === at.lineage && !isChanging(tags) && generations.unmoved(tags, at.number),
    mayServe,
    isSynced: () => mayServe(-Infinity),
    canMiss,
  };
}

/** Returns the tags of all data that a change invalidates. */
function reachOf(change: SharedChange): Iterable<string> {
  if (change.kind === 'purge') return change.tags === 'all' ? [ALL] : purgeReach(change.tags);
  return change.kind === 'demote' ? [sharingTag(change.operation)] : [];
}

/** Returns the tags whose changes invalidate a page with the given tags. `key` is the page's cache key. */
export function changingTags(key: string, tags: readonly string[]): ReadonlySet<string> {
  const changing = new Set(invalidatingTags(tags));
  if (isShared(audienceOfKey(key))) changing.add(sharingTag(operationOfKey(key)));
  return changing;
}

/** Returns the tag that stands for all of an operation's shared pages. Purges never contain this tag. */
const sharingTag = (operation: string) => `\n${operation}`;
