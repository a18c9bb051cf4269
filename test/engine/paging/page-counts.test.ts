import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/engine/model/operation.ts';
import {
  boundPage,
  createPageCounts,
  pageOutOfBounds,
  type ReturnedPage,
} from '../../../src/engine/paging/page-counts.ts';
import type { RequestedPage } from '../../../src/engine/paging/requested-page.ts';

describe('a learned page count', () => {
  function countsAt(now: number, options = { maxAgeSeconds: 300, maxEntries: 100 }) {
    const time = { now };
    return { time, counts: createPageCounts(options, () => time.now) };
  }

  it('is stored under its own key only', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', 4, [], counts.generation());
    expect([counts.learned('k'), counts.learned('other')]).toEqual([4, undefined]);
  });

  it('expires after its maximum age', () => {
    const { counts, time } = countsAt(1_000_000);
    counts.learn('k', 4, [], counts.generation());
    time.now += 299_999;
    expect(counts.learned('k')).toBe(4);
    time.now += 1;
    expect(counts.learned('k')).toBeUndefined();
    expect(counts.size).toBe(0);
  });

  it('expires even if it was learned at time 0, and when the clock is set back', () => {
    const { counts, time } = countsAt(0);
    counts.learn('k', 4, [], counts.generation());
    expect(counts.learned('k')).toBe(4);
    time.now = -1;
    expect(counts.learned('k')).toBeUndefined();
    time.now = 0;
    counts.learn('k', 4, [], counts.generation());
    time.now = 300_000;
    expect(counts.learned('k')).toBeUndefined();
  });

  it('is dropped with its own tags only', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', 4, ['questions'], counts.generation());
    counts.learn('other', 9, ['ideas'], counts.generation());
    counts.drop(['questions']);
    expect([counts.learned('k'), counts.learned('other')]).toEqual([undefined, 9]);
    // A count that was valid earlier must be rechecked after later changes.
    counts.drop(['ideas']);
    expect(counts.learned('other')).toBeUndefined();
  });

  it('is not learned from a response that is older than a drop of its tags', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.drop(['questions']);
    counts.learn('k', 4, ['questions'], before);
    counts.learn('other', 4, ['ideas'], before);
    expect([counts.learned('k'), counts.learned('other')]).toEqual([undefined, 4]);
  });

  it('is not replaced by a response that is older than a drop of its tags', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.drop(['questions']);
    counts.learn('k', 9, ['questions'], counts.generation());
    counts.learn('k', 4, ['questions'], before);
    expect(counts.learned('k')).toBe(9);
  });

  it('survives any number of drops of other tags while it is in use', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', 4, ['questions'], counts.generation());
    for (let id = 0; id < 10_002; id += 1) {
      counts.drop([`node:${id}`]);
      if (id % 100 === 0) counts.learned('k');
    }
    expect(counts.learned('k')).toBe(4);
  });

  it('is removed when all counts are dropped', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.learn('k', 4, [], before);
    counts.dropAll();
    expect(counts.learned('k')).toBeUndefined();
    counts.learn('k', 4, [], before);
    expect(counts.learned('k')).toBeUndefined();
  });

  it('is removed when the list is empty or no longer has a count', () => {
    const { counts } = countsAt(1_000_000);
    for (const pageCount of [undefined, -1, 1.5]) {
      counts.learn('k', 4, [], counts.generation());
      counts.learn('k', pageCount, [], counts.generation());
      expect(counts.learned('k')).toBeUndefined();
    }
  });

  it('is one of a bounded number, of which the least recently used is dropped first', () => {
    const { counts } = countsAt(1_000_000, { maxAgeSeconds: 300, maxEntries: 2 });
    counts.learn('a', 1, [], counts.generation());
    counts.learn('b', 2, [], counts.generation());
    counts.learned('a');
    counts.learn('c', 3, [], counts.generation());
    expect([counts.learned('a'), counts.learned('b'), counts.learned('c')]).toEqual([1, undefined, 3]);
  });
});

describe('a page', () => {
  const fromOne: Paging = { firstPage: 1, observedPageSize: 15, hasPageCount: true };
  const fromZero: Paging = { firstPage: 0, observedPageSize: 35, hasPageCount: true };
  const withoutCount: Paging = { firstPage: 1, observedPageSize: 20, hasPageCount: false };

  const bound = (asked: Partial<Pick<RequestedPage, 'page' | 'pageSize'>>, learnedCount?: number, paging = fromOne) =>
    boundPage({ page: undefined, pageSize: undefined, ...asked, paging, learnedCount, options: { maxPageSize: 100 } });

  it('is the first one by default, without a size', () => {
    expect(bound({})).toEqual({ ok: true, effective: { page: 1, pageSize: undefined } });
    expect(bound({}, undefined, fromZero)).toEqual({ ok: true, effective: { page: 0, pageSize: undefined } });
  });

  it('is a non-negative integer', () => {
    for (const page of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(bound({ page })).toMatchObject({ ok: false, code: 'page_out_of_bounds' });
    }
    expect(bound({ page: 0 }).ok).toBe(true);
  });

  it('has a size from 1 to the maximum', () => {
    expect(bound({ pageSize: 1 }).ok).toBe(true);
    expect(bound({ pageSize: 100 })).toEqual({ ok: true, effective: { page: 1, pageSize: 100 } });
    for (const pageSize of [0, -1, 1.5, 101]) {
      expect(bound({ pageSize })).toMatchObject({ ok: false, code: 'page_size_out_of_bounds' });
    }
  });

  it('is refused by a learned count only beyond that count plus one', () => {
    expect(bound({ page: 5 }, 4).ok).toBe(true);
    expect(bound({ page: 6 }, 4)).toMatchObject({ ok: false, code: 'page_out_of_bounds' });
  });

  it('is not refused if no count is learned or the list has no page count', () => {
    expect(bound({ page: 999 }).ok).toBe(true);
    expect(bound({ page: 999 }, 4, withoutCount).ok).toBe(true);
  });

  it('is never refused by a learned count if it is the first page', () => {
    expect(bound({ page: 1 }, 0).ok).toBe(true);
    expect(bound({ page: 0 }, 0).ok).toBe(true);
    expect(bound({ page: 0 }, 0, fromZero).ok).toBe(true);
  });

  it('is compared by its number in lists that begin at 0, including the one after the last', () => {
    expect(bound({ page: 5 }, 4, fromZero).ok).toBe(true);
    expect(bound({ page: 6 }, 4, fromZero).ok).toBe(false);
  });

  it('is refused with the requested and the allowed value', () => {
    expect(bound({ page: 9 }, 4)).toMatchObject({
      message: 'page 9 exceeds the page count, 4',
      detail: { in: 'query', name: 'page' },
    });
    expect(bound({ pageSize: 500 })).toMatchObject({
      message: 'pageSize 500 exceeds the maximum of 100',
      detail: { in: 'query', name: 'pageSize' },
    });
  });

  it('is refused exactly as the rule defines, for any count', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.constantFrom(fromOne, fromZero), (page, count, paging) => {
        const refused = page > paging.firstPage && page > count + 1;
        expect(bound({ page }, count, paging).ok).toBe(!refused);
      }),
    );
  });
});

describe('a page in a response', () => {
  const faultOf = (changes: Partial<ReturnedPage>) =>
    pageOutOfBounds({ page: 2, pageCount: 4, firstPage: 1, ...changes });

  it('is out of bounds when page is greater than pageCount', () => {
    expect(faultOf({ page: 4 })).toBeUndefined();
    expect(faultOf({ page: 5 })).toMatchObject({ code: 'page_out_of_bounds', detail: { in: 'query', name: 'page' } });
    expect(faultOf({ page: 5 })?.message).toBe('page 5 exceeds the page count, 4');
  });

  it('is not refused when it is the first page', () => {
    expect(faultOf({ page: 1, pageCount: 0 })).toBeUndefined();
    expect(faultOf({ page: 2, pageCount: 1 })).toBeDefined();
    expect(faultOf({ page: 0, pageCount: 0, firstPage: 0 })).toBeUndefined();
    expect(faultOf({ page: 1, pageCount: 0, firstPage: 0 })).toBeDefined();
  });

  it('is compared by its number in lists that begin at 0', () => {
    expect(faultOf({ page: 4, firstPage: 0 })).toBeUndefined();
    expect(faultOf({ page: 5, firstPage: 0 })).toBeDefined();
  });

  it.each([undefined, -1, 1.5, Number.NaN])('is not refused on a page count of %s', (pageCount) => {
    expect(faultOf({ page: 99, pageCount })).toBeUndefined();
  });
});
