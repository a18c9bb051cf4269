import { describe, expect, it } from 'vitest';
import {
  beginReading,
  type ListState,
  OVERLAP,
  parseState,
  type ReadItem,
  type ReadingResult,
  UNREAD,
} from '../../../src/features/changes/list-state.ts';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';

/** An item of a list on an imaginary server. */
interface Item {
  readonly id: string;
  readonly at: number;
  readonly created?: number;
  readonly text?: string;
  readonly count?: number;
}

const toRead = ({ id, at, created, text, count }: Item, isSorted = true): ReadItem => ({
  id,
  by: isSorted ? at : undefined,
  created,
  version: [JSON.stringify(at), text, count === undefined ? undefined : String(count)],
  growths: ['counted'],
  hidden: false,
  target: { type: 'thing', id },
  title: undefined,
  data: () => JSON.stringify({ id, at, text }),
});

const PAGE = 20;

/** Reads a list, whose pages `pageOf` returns at the moment at which they are read. */
function readFrom(
  state: ListState,
  pageOf: (page: number) => readonly Item[],
  { isSorted = true, maxItems = 1_000, maxKnown = 100 } = {},
): ReadingResult & { readonly pages: number } {
  const reading = beginReading(state, isSorted, { maxItems, maxKnown });
  let pages = 0;
  for (let more = true; more;) {
    const items = pageOf(reading.nextPage);
    pages += 1;
    more = reading.add(
      items.map((item) => toRead(item, isSorted)),
      items.length < PAGE,
    );
  }
  const result = reading.finish();
  // What is known survives a restart.
  return { ...result, pages, state: parseState(JSON.stringify(result.state)) ?? UNREAD };
}

const slice = (items: readonly Item[], page: number) => items.slice(page * PAGE, (page + 1) * PAGE);
const sorted = (items: readonly Item[]) => items.toSorted((a, b) => b.at - a.at);
const words = ({ changes }: Pick<ReadingResult, 'changes'>) => changes.map(({ what, item }) => `${item.id} ${what}`);
const things = (count: number, from = 0): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `t${from + index}`,
    at: 1_000 + from + index,
    created: 1_000 + from + index,
  }));

describe('a sorted list', () => {
  it('has a first reading of one page, which finds no changes', () => {
    const items = sorted(things(200));
    const first = readFrom(UNREAD, (page) => slice(items, page));
    expect(first).toMatchObject({ pages: 1, outcome: 'complete', changes: [] });
    expect(readFrom(first.state, (page) => slice(items, page))).toMatchObject({ pages: 1, changes: [] });
  });

  it('tells new items and items that have moved to the top, the earliest first', () => {
    const items = things(200);
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const old = { ...(items[3] as Item), at: 5_001 };
    const later = [...items.filter(({ id }) => id !== 't3'), old, { id: 'new', at: 5_000, created: 5_000 }];
    const second = readFrom(state, (page) => slice(sorted(later), page));
    expect(words(second)).toEqual(['new created', 't3 changed']);
    expect(words(readFrom(second.state, (page) => slice(sorted(later), page)))).toEqual([]);
  });

  it('tells of the growth of a count by its name, if the count was known', () => {
    const items = things(20).map((one, at) => (at < 15 ? Object.assign({}, one, { count: at }) : one));
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const later = items.map((one, at) =>
      at === 3 || (at > 10 && at < 18) ? Object.assign({}, one, { at: 5_000 + at, count: at === 3 ? 20 : 12 }) : one,
    );
    expect(words(readFrom(state, (page) => slice(sorted(later), page)))).toEqual([
      't3 counted',
      't11 counted',
      't12 changed',
      't13 changed',
      't14 changed',
      't15 changed',
      't16 changed',
      't17 changed',
    ]);
  });

  it('has not changed because a release remembers more of it than the one before', () => {
    const items = things(20).map((one) => Object.assign(one, { count: 1 }));
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const known = state.known.map(([id, version, ...more]) => [id, version.slice(0, 2), ...more] as const);
    const second = readFrom({ ...state, known }, (page) => slice(sorted(items), page));
    expect(second.changes).toEqual([]);
    const later = items.map((one) => Object.assign({}, one, { at: one.at + 5_000, count: 2 }));
    expect(
      new Set(readFrom(second.state, (page) => slice(sorted(later), page)).changes.map(({ what }) => what)),
    ).toEqual(new Set(['counted']));
  });

  it('is read until enough known items follow one another, not further', () => {
    const items = things(200);
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const many = [...items, ...things(PAGE + PAGE / 2, 500)];
    const second = readFrom(state, (page) => slice(sorted(many), page));
    expect(second.changes).toHaveLength(PAGE + PAGE / 2);
    expect(second.pages).toBe(2);
    expect(OVERLAP).toBeLessThanOrEqual(PAGE / 2);
  });

  it('loses nothing if an item is removed while pages are read, and the next page therefore skips one', () => {
    const items = things(200);
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    let now = sorted([...items, ...things(2 * PAGE, 500)]);
    const second = readFrom(state, (page) => {
      const given = slice(now, page);
      if (page === 0) now = now.filter(({ id }) => id !== 't539');
      return given;
    });
    const third = readFrom(second.state, (page) => slice(now, page));
    const found = [...words(second), ...words(third)].toSorted();
    expect(found).toEqual(
      things(2 * PAGE, 500)
        .map(({ id }) => `${id} created`)
        .toSorted(),
    );
  });

  it('tells an item once if pages repeat it because something was added in between', () => {
    const items = things(200);
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    let now = sorted([...items, ...things(2 * PAGE, 500)]);
    const second = readFrom(state, (page) => {
      const given = slice(now, page);
      if (page === 0) now = sorted([...now, ...things(3, 700)]);
      return given;
    });
    const third = readFrom(second.state, (page) => slice(now, page));
    const found = [...words(second), ...words(third)];
    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(2 * PAGE + 3);
  });

  it('loses nothing, and tells nothing twice, whatever is added between two pages', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = createSeededRandom(seed);
      let all = things(100);
      let { state } = readFrom(UNREAD, (page) => slice(sorted(all), page));
      const told: string[] = [];
      let left = 12;
      const add = () => {
        left -= 1;
        // A page can repeat the one before exactly, once or several times.
        const sizes = [0, 1, random.integer(1, 60), PAGE, 2 * PAGE];
        if (left > 0) all = [...all, ...things(random.pick(sizes), all.length)];
      };
      for (let round = 0; round < 8; round += 1) {
        // What was added last is found, too.
        if (round === 7) left = 0;
        const result = readFrom(state, (page) => {
          const given = slice(sorted(all), page);
          if (page < 2) add();
          return given;
        });
        ({ state } = result);
        told.push(...words(result));
      }
      const added = things(all.length - 100, 100).map(({ id }) => `${id} created`);
      expect([seed, told.toSorted()]).toEqual([seed, added.toSorted()]);
    }
  });

  it('ends where a server repeats its last page again and again', () => {
    const items = things(30);
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const later = sorted([...items, ...things(60, 500)]);
    const second = readFrom(state, (page) => slice(later, Math.min(page, 1)));
    expect(second).toMatchObject({ pages: 5, outcome: 'complete' });
  });

  it('does not regard a member that an item lacks this time as a change', () => {
    const items: Item[] = things(5).map((item) => Object.assign(item, { text: 'same' }));
    const { state } = readFrom(UNREAD, (page) => slice(sorted(items), page));
    const without = items.map(({ id, at, created }) => ({ id, at, created: created ?? 0 }));
    const second = readFrom(state, (page) => slice(sorted(without), page));
    expect(words(second)).toEqual([]);
    expect(words(readFrom(second.state, (page) => slice(sorted(items), page)))).toEqual([]);
    const other = items.map((item) => Object.assign({}, item, { text: 'other' }));
    expect(words(readFrom(second.state, (page) => slice(sorted(other), page)))).toHaveLength(5);
  });

  it('remembers a limited number of items, and still tells a forgotten one that changes', () => {
    const items = things(100);
    let { state } = readFrom(UNREAD, (page) => slice(sorted(items), page), { maxKnown: 30 });
    for (let round = 0; round < 10; round += 1) {
      items.push(...things(10, 500 + round * 10));
      const result = readFrom(state, (page) => slice(sorted(items), page), { maxKnown: 30 });
      expect(result.changes).toHaveLength(10);
      ({ state } = result);
      expect(state.known.length).toBeLessThanOrEqual(30);
    }
    Object.assign(items[95] as Item, { at: 9_999 });
    expect(words(readFrom(state, (page) => slice(sorted(items), page), { maxKnown: 30 }))).toEqual(['t95 changed']);
  });

  it('is read completely if the server ignores the order, and its items are not told as new for that', () => {
    const random = createSeededRandom(7);
    const items = things(90).toSorted(() => (random.chance(0.5) ? 1 : -1));
    let state = UNREAD;
    const read = (list: readonly Item[]) => {
      const result = readFrom(state, (page) => slice(list, page));
      ({ state } = result);
      return result;
    };
    expect(read(items)).toMatchObject({ outcome: 'unsorted', changes: [], pages: 5 });
    expect(words(read(items))).toEqual([]);
    const changed = items.map((item) => (item.id === 't7' ? Object.assign({}, item, { at: 7_000 }) : item));
    expect(words(read([...changed, { id: 'new', at: 6_000 }]))).toEqual(['new created', 't7 changed']);
  });

  it('gives an item without a value that of its neighbor', () => {
    const items = sorted(things(200));
    const { state } = readFrom(UNREAD, (page) => slice(items, page));
    const reading = beginReading(state, true, { maxItems: 1_000 });
    const fresh = { ...toRead({ id: 'new', at: 9_000 }), by: undefined };
    reading.add([toRead({ id: 'newer', at: 9_001 }), fresh, ...slice(items, 0).map((item) => toRead(item))], false);
    expect(words(reading.finish())).toEqual(['new created', 'newer created']);
  });
});

describe('a list in no particular order', () => {
  const UNSORTED = { isSorted: false };

  it('is read completely each time', () => {
    const items = things(50);
    const first = readFrom(UNREAD, (page) => slice(items, page), UNSORTED);
    expect(first).toMatchObject({ pages: 3, changes: [] });
    const later = [
      { id: 'a', at: 1 },
      ...items.map((item) => (item.id === 't40' ? Object.assign({}, item, { at: 2 }) : item)),
    ];
    expect(words(readFrom(first.state, (page) => slice(later, page), UNSORTED)).toSorted()).toEqual([
      'a created',
      't40 changed',
    ]);
  });

  it('continues a first reading that was interrupted, and then tells what was created behind it', () => {
    const items = things(50);
    const reading = beginReading(UNREAD, false, { maxItems: 1_000 });
    expect(
      reading.add(
        slice(items, 0).map((item) => toRead(item, false)),
        false,
      ),
    ).toBe(true);
    const partial = parseState(JSON.stringify(reading.partial())) ?? UNREAD;
    expect(partial).toMatchObject({ isBegun: false, pagesKnown: 1 });
    // The process ends here, and an item is created on the page that was read.
    const later = [{ id: 'early', at: 1 }, ...items];
    const first = readFrom(partial, (page) => slice(later, page), UNSORTED);
    expect(first).toMatchObject({ pages: 2, changes: [] });
    expect(words(readFrom(first.state, (page) => slice(later, page), UNSORTED))).toEqual(['early created']);
  });

  it('tells nothing if it is longer than the limit', () => {
    const items = things(200);
    const result = readFrom(UNREAD, (page) => slice(items, page), { ...UNSORTED, maxItems: 100 });
    expect(result).toMatchObject({ outcome: 'truncated', state: UNREAD, changes: [] });
  });

  it('forgets items that have been absent for several readings', () => {
    let { state } = readFrom(UNREAD, (page) => slice(things(10), page), UNSORTED);
    for (let round = 0; round < 3; round += 1)
      ({ state } = readFrom(state, (page) => slice(things(5), page), UNSORTED));
    expect(state.known).toHaveLength(5);
  });
});
