import { describe, expect, it } from 'vitest';
import { createChangeFollower } from '../../../src/engine/cache/change-follower.ts';
import { invalidatingTags } from '../../../src/engine/cache/tags.ts';
import type { SharedChange } from '../../../src/engine/model/change-log.ts';

const purge = (tags: readonly string[] | 'all'): SharedChange => ({ kind: 'purge', tags });

function followed(maxUnsyncedSeconds = 5) {
  const time = { now: 1_000_000, syncedAt: 1_000_000, unapplied: [] as SharedChange[] };
  const changes = createChangeFollower({
    clock: () => time.now,
    changes: { syncedAt: () => time.syncedAt, unapplied: () => time.unapplied, canMiss: true },
    maxUnsyncedSeconds,
  });
  const isValid = (tag: string, number: number, lineage = 'one') =>
    changes.isValid(invalidatingTags([tag]), { lineage, number });
  return { time, changes, isValid };
}

describe('a change follower', () => {
  it('treats nothing as valid before it has read the log', () => {
    const { changes, isValid } = followed();
    expect(changes.position()).toBeUndefined();
    expect(isValid('node:1', 0)).toBe(false);
  });

  it('treats a page as valid unless one of its tags was purged after its fetch began', () => {
    const { changes, isValid } = followed();
    changes.reset({ lineage: 'one', number: 7 });
    changes.apply(purge(['node:1']), 8, false);
    expect(changes.position()).toEqual({ lineage: 'one', number: 8 });
    expect([isValid('node:1', 7), isValid('node:1', 8), isValid('node:2', 7)]).toEqual([false, true, true]);
  });

  it('treats pages as invalid that began before the stored history', () => {
    const { changes, isValid } = followed();
    changes.reset({ lineage: 'one', number: 7 });
    expect([isValid('node:1', 6), isValid('node:1', 7)]).toEqual([false, true]);
  });

  it('accepts a page from a gateway that has applied more changes', () => {
    const { changes, isValid } = followed();
    changes.reset({ lineage: 'one', number: 7 });
    changes.apply(purge(['node:1']), 8, false);
    expect(isValid('node:1', 12)).toBe(true);
  });

  it.each([
    ['a wildcard', ['node:*'], [false, true]],
    ['everything', 'all', [false, false]],
  ] as const)('applies a purge of %s', (_name, tags, valid) => {
    const { changes, isValid } = followed();
    changes.reset({ lineage: 'one', number: 0 });
    changes.apply(purge(tags), 1, false);
    expect([isValid('node:5', 0), isValid('users', 0)]).toEqual(valid);
  });

  // Numbers from different lineages cannot be compared: after a restart without data, counting starts over at 0.
  it('treats pages of another lineage as invalid', () => {
    const { changes, isValid } = followed();
    changes.reset({ lineage: 'one', number: 9 });
    changes.reset({ lineage: 'two', number: 2 });
    expect([isValid('node:1', 9), isValid('node:1', 2, 'two'), isValid('node:1', 1, 'two')]).toEqual([
      false,
      true,
      false,
    ]);
  });

  // A gateway does not know the number of its own purge until the log contains the purge. Until then, a page from
  // another gateway may have been fetched before the write, even if the page has the latest number that this gateway
  // knows.
  it('treats pages as invalid while the log lacks an own change that affects them', () => {
    const { changes, time, isValid } = followed();
    changes.reset({ lineage: 'one', number: 0 });
    time.unapplied = [purge(['node:1'])];
    expect([isValid('node:1', 0), isValid('node:2', 0)]).toEqual([false, true]);
    time.unapplied = [purge('all')];
    expect(isValid('node:2', 0)).toBe(false);
    time.unapplied = [];
    changes.apply(purge(['node:1']), 1, true);
    expect([isValid('node:1', 0), isValid('node:1', 1)]).toEqual([false, true]);
  });

  it('serves data only within the bound after changes have stopped arriving', () => {
    const { changes, time } = followed(5);
    const asOf = time.now - 60_000;
    time.now += 5_000;
    expect([changes.mayServe(asOf), changes.isSynced()]).toEqual([true, true]);
    time.now += 1;
    expect([changes.mayServe(asOf), changes.isSynced()]).toEqual([false, false]);
    expect(changes.mayServe(time.now - 5_000)).toBe(true);
    time.syncedAt = time.now;
    expect(changes.mayServe(asOf)).toBe(true);
  });

  it('trusts no synchronization in the future, because the clock was set back', () => {
    const { changes, time } = followed(5);
    time.now -= 3_600_000;
    expect(changes.mayServe(time.now - 60_000)).toBe(false);
  });

  it('has never been in sync before the log was read', () => {
    const { changes, time } = followed(5);
    time.syncedAt = -Infinity;
    expect([changes.isSynced(), changes.mayServe(time.now - 1_000), changes.mayServe(time.now - 6_000)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
