import { beforeEach, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/features/changes/event.ts';
import type { FeedStore, StoreLimits } from '../../../src/features/changes/feed-store.ts';

const event = (id: string, source = 'listBooks'): NewEvent => ({
  source,
  kind: 'book.created',
  target: { type: 'book', id },
  title: `Book ${id}`,
  data: JSON.stringify({ id }),
});

/** What every store of the feed must do. `open` opens the same store again with each call, and `empty` another one. */
export function testFeedStore(empty: () => Promise<(limits: StoreLimits) => FeedStore>): void {
  const LIMITS = { maxEvents: 1_000, retentionMs: 1_000_000 };
  let open: (limits: StoreLimits) => FeedStore;
  let store: FeedStore;

  beforeEach(async () => {
    open = await empty();
    store = open(LIMITS);
  });

  const commit = (revision: number, events: readonly NewEvent[], at = 1_000, one = store) =>
    one.commit({ document: 'list', revision, text: `state ${revision + 1}`, events, at });

  it('stores a document together with the events that follow from it', async () => {
    expect(await store.read('list')).toBeUndefined();
    expect(await commit(0, [event('1'), event('2')])).toBe(true);
    expect(await store.read('list')).toEqual({ text: 'state 1', revision: 1 });
    expect(await store.after(0, 10)).toEqual([
      { ...event('1'), number: 1, at: 1_000 },
      { ...event('2'), number: 2, at: 1_000 },
    ]);
    expect(await store.after(1, 10)).toHaveLength(1);
    expect(await store.range()).toEqual({ last: 2, removed: 0 });
  });

  it('refuses a change that was made from an earlier revision, with its events', async () => {
    await commit(0, []);
    expect(await commit(0, [event('1')])).toBe(false);
    expect(await store.after(0, 10)).toEqual([]);
    expect(await store.read('list')).toEqual({ text: 'state 1', revision: 1 });
  });

  it('has everything when it is opened again', async () => {
    await commit(0, [event('1')]);
    const lineage = await store.lineage();
    expect(lineage).toMatch(/^[0-9a-f]{8}$/);
    const again = open(LIMITS);
    expect(await again.lineage()).toBe(lineage);
    expect(await again.after(0, 10)).toHaveLength(1);
    expect(await commit(1, [event('2')], 1_000, again)).toBe(true);
    expect((await again.after(0, 10)).map(({ number }) => number)).toEqual([1, 2]);
  });

  it('removes the earliest events if there are too many, and never uses their numbers again', async () => {
    const small = open({ ...LIMITS, maxEvents: 3 });
    await commit(0, [event('1'), event('2'), event('3'), event('4'), event('5')], 1_000, small);
    expect((await small.after(0, 10)).map(({ number }) => number)).toEqual([3, 4, 5]);
    expect(await small.range()).toEqual({ last: 5, removed: 2 });
  });

  it('removes events that are too old', async () => {
    await commit(0, [event('1')], 1_000);
    await commit(1, [event('2')], 2_000_000);
    expect((await store.after(0, 10)).map(({ number }) => number)).toEqual([2]);
    expect(await store.range()).toEqual({ last: 2, removed: 1 });
  });

  it('returns the latest events from one source, the latest first', async () => {
    await commit(0, [event('1'), event('2', 'listFilms'), event('3'), event('4')]);
    expect((await store.latest('listBooks', 2)).map(({ number }) => number)).toEqual([4, 3]);
  });

  it('tells listeners of new events', async () => {
    const told = new Promise<void>((resolve) => store.onEvents(resolve));
    await commit(0, [event('1')]);
    await told;
  });
}
