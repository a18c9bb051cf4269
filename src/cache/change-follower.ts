import type { Clock } from '../lib/clock.ts';
import { createTagGenerations } from '../lib/tag-generations.ts';
import type { ChangeListener, LogPosition } from '../model/change-log.ts';
import { purgeReach } from './tags.ts';

/** Follows the log of shared changes, and decides which data may still be served. */
export interface ChangeFollower extends ChangeListener {
  /** The position of the latest change that was applied. Undefined until the log was first read. */
  position(): LogPosition | undefined;
  /** Records that this process has purged the tags. The log will contain the purge later. */
  expect(tags: readonly string[] | 'all'): void;
  /**
   * Returns whether data is still valid that another process began to fetch at a position of the log. `tags` are all
   * tags that invalidate it.
   */
  isValid(tags: Iterable<string>, at: LogPosition): boolean;
  /**
   * Returns whether data may be served that reflects the state at `asOf`, in epoch milliseconds. It may not if changes
   * cannot arrive and the data may therefore be older than the bound.
   */
  mayServe(asOf: number): boolean;
  /** Returns whether changes have arrived within the bound. */
  isSynced(): boolean;
}

/** The parts of a change follower. */
interface ChangeFollowerParts {
  readonly clock: Clock;
  /** Returns the latest instant for which all changes are known to be applied here, in epoch milliseconds. */
  readonly syncedAt: () => number;
  /** The longest time for which data is served while changes cannot arrive. */
  readonly maxUnsyncedSeconds: number;
}

/** The number of tags whose latest change is stored. Beyond it, older pages are treated as invalid. */
const MAX_TAGS = 50_000;
/** Stands for all tags in the set of expected purges. A tag of a page is never empty. */
const ALL = '';

/** Creates a follower. It has to receive every change before the memory that the change purges. */
export function createChangeFollower({ clock, syncedAt, maxUnsyncedSeconds }: ChangeFollowerParts): ChangeFollower {
  const maxMs = maxUnsyncedSeconds * 1000;
  let position: LogPosition | undefined;
  let generations = createTagGenerations(MAX_TAGS);
  // The number of own purges of each tag that are not in the log yet. Their numbers are unknown, so no page that
  // another process has stored may be used until then.
  const expected = new Map<string, number>();

  const expect = (tags: Iterable<string>, difference: 1 | -1) => {
    for (const tag of tags) {
      const count = (expected.get(tag) ?? 0) + difference;
      if (count > 0) expected.set(tag, count);
      else expected.delete(tag);
    }
  };
  const isExpected = (tags: Iterable<string>) => {
    if (expected.size === 0) return false;
    if (expected.has(ALL)) return true;
    for (const tag of tags) if (expected.has(tag)) return true;
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
    expect: (tags) => expect(tags === 'all' ? [ALL] : purgeReach(tags), 1),
    apply(change, number, own) {
      if (position !== undefined) position = { lineage: position.lineage, number };
      if (change.kind !== 'purge') return;
      const { tags } = change;
      if (tags === 'all') {
        generations.moveAll(number);
        if (own) expected.clear();
      } else {
        const reached = purgeReach(tags);
        generations.move(reached, number);
        if (own) expect(reached, -1);
      }
    },
    reset(to) {
      position = to;
      generations = createTagGenerations(MAX_TAGS);
      generations.moveAll(to.number);
      expected.clear();
    },
    isValid: (tags, at) =>
      position?.lineage === at.lineage && !isExpected(tags) && generations.unmoved(tags, at.number),
    mayServe,
    isSynced: () => mayServe(-Infinity),
  };
}
