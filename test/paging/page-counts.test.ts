import { describe, expect, it } from 'vitest';
import { createPageCounts } from '../../src/paging/page-counts.ts';

function countsAt(now: number, options = { maxAgeSeconds: 300, maxEntries: 100 }) {
  const time = { now };
  return { time, counts: createPageCounts(options, () => time.now) };
}
const list = (pageCount: unknown, totalCount: unknown = 50) => ({ pageCount, totalCount });

describe('a learned page count', () => {
  it('is stored under its own key only', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', list(4), [], counts.generation());
    expect([counts.learned('k'), counts.learned('other')]).toEqual([4, undefined]);
  });

  it('expires after its maximum age', () => {
    const { counts, time } = countsAt(1_000_000);
    counts.learn('k', list(4), [], counts.generation());
    time.now += 299_999;
    expect(counts.learned('k')).toBe(4);
    time.now += 1;
    expect(counts.learned('k')).toBeUndefined();
    expect(counts.size).toBe(0);
  });

  it('expires even if it was learned at time 0, and when the clock is set back', () => {
    const { counts, time } = countsAt(0);
    counts.learn('k', list(4), [], counts.generation());
    expect(counts.learned('k')).toBe(4);
    time.now = -1;
    expect(counts.learned('k')).toBeUndefined();
    time.now = 0;
    counts.learn('k', list(4), [], counts.generation());
    time.now = 300_000;
    expect(counts.learned('k')).toBeUndefined();
  });

  it('is dropped with its own tags only', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', list(4), ['questions'], counts.generation());
    counts.learn('other', list(9), ['ideas'], counts.generation());
    counts.drop(['questions']);
    expect([counts.learned('k'), counts.learned('other')]).toEqual([undefined, 9]);
    // Asked again, so that a count found good once is not good for ever.
    counts.drop(['ideas']);
    expect(counts.learned('other')).toBeUndefined();
  });

  it('is not learned from a response that is older than a drop of its tags', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.drop(['questions']);
    counts.learn('k', list(4), ['questions'], before);
    counts.learn('other', list(4), ['ideas'], before);
    expect([counts.learned('k'), counts.learned('other')]).toEqual([undefined, 4]);
  });

  it('is not replaced by a response that is older than a drop of its tags', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.drop(['questions']);
    counts.learn('k', list(9), ['questions'], counts.generation());
    counts.learn('k', list(4), ['questions'], before);
    expect(counts.learned('k')).toBe(9);
  });

  it('survives any number of drops of other tags while it is in use', () => {
    const { counts } = countsAt(1_000_000);
    counts.learn('k', list(4), ['questions'], counts.generation());
    for (let id = 0; id < 10_002; id += 1) {
      counts.drop([`node:${id}`]);
      if (id % 100 === 0) counts.learned('k');
    }
    expect(counts.learned('k')).toBe(4);
  });

  it('is removed when all counts are dropped', () => {
    const { counts } = countsAt(1_000_000);
    const before = counts.generation();
    counts.learn('k', list(4), [], before);
    counts.dropAll();
    expect(counts.learned('k')).toBeUndefined();
    counts.learn('k', list(4), [], before);
    expect(counts.learned('k')).toBeUndefined();
  });

  it('is removed when the list is empty or has no count any more', () => {
    const { counts } = countsAt(1_000_000);
    for (const answer of [list(0, 0), list(undefined), list('4'), list(-1), list(1.5)]) {
      counts.learn('k', list(4), [], counts.generation());
      counts.learn('k', answer, [], counts.generation());
      expect(counts.learned('k')).toBeUndefined();
    }
  });

  it('is one of a bounded number, of which the least recently used is dropped first', () => {
    const { counts } = countsAt(1_000_000, { maxAgeSeconds: 300, maxEntries: 2 });
    counts.learn('a', list(1), [], counts.generation());
    counts.learn('b', list(2), [], counts.generation());
    counts.learned('a');
    counts.learn('c', list(3), [], counts.generation());
    expect([counts.learned('a'), counts.learned('b'), counts.learned('c')]).toEqual([1, undefined, 3]);
  });
});
