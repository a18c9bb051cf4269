import { describe, expect, it } from 'vitest';
import { type AnsweredPage, answerOutOfBounds } from '../../src/paging/answer-out-of-bounds.ts';

const answer = (changes: Partial<AnsweredPage>) =>
  answerOutOfBounds({ page: 2, pageCount: 4, totalCount: 50, firstPage: 1, ...changes });

describe('an answered page', () => {
  it('is out of bounds when page is greater than pageCount', () => {
    expect(answer({ page: 4 })).toBeUndefined();
    expect(answer({ page: 5 })).toMatchObject({ code: 'page_out_of_bounds', detail: { in: 'query', name: 'page' } });
    expect(answer({ page: 5 })?.message).toBe(
      'page 5 was asked for, but page must not be greater than the page count, 4',
    );
  });

  it('is not refused when totalCount is 0', () => {
    expect(answer({ page: 5, pageCount: 0, totalCount: 0 })).toBeUndefined();
  });

  it('is not refused when it is the first page', () => {
    expect(answer({ page: 1, pageCount: 0 })).toBeUndefined();
    expect(answer({ page: 2, pageCount: 1 })).toBeDefined();
    expect(answer({ page: 0, pageCount: 0, firstPage: 0 })).toBeUndefined();
    expect(answer({ page: 1, pageCount: 0, firstPage: 0 })).toBeDefined();
  });

  it('is compared by its number in lists that begin at 0', () => {
    expect(answer({ page: 4, firstPage: 0 })).toBeUndefined();
    expect(answer({ page: 5, firstPage: 0 })).toBeDefined();
  });

  it.each([undefined, null, '4', -1, 1.5, Number.NaN])('is not refused on a page count of %s', (pageCount) => {
    expect(answer({ page: 99, pageCount })).toBeUndefined();
  });
});
