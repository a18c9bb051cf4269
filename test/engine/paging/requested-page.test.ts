import { describe, expect, it } from 'vitest';
import { type PageParameters, toRequestedPage } from '../../../src/engine/paging/requested-page.ts';

describe('the requested page of a target', () => {
  const values = (more: Partial<PageParameters> = {}): PageParameters => ({
    page: undefined,
    pageSize: undefined,
    query: new Map(),
    ...more,
  });
  const sent = (name: string, ...texts: string[]) => values({ query: new Map([[name, texts]]) });

  it('is read from the decoded parameters, with its list', () => {
    const query = new Map([
      ['page', ['2']],
      ['pageSize', ['15']],
    ]);
    expect(toRequestedPage({ page: 2, pageSize: 15, query }, '/a.json?q=x&page=2&pageSize=15')).toEqual({
      page: 2,
      pageSize: 15,
      unreadable: [],
      listTarget: '/a.json?q=x&pageSize=15',
    });
  });

  it('is undefined if the parameters are absent', () => {
    expect(toRequestedPage(values(), '/a.json')).toEqual({
      page: undefined,
      pageSize: undefined,
      unreadable: [],
      listTarget: '/a.json',
    });
  });

  it.each([
    ['page', ['9999999999999999999']],
    ['page', ['-1']],
    ['pageSize', ['-20']],
    ['pageSize', ['1', '2']],
    ['page', ['1', '1']],
  ])('cannot be checked if %s is %j', (name, texts) => {
    const { unreadable } = toRequestedPage(sent(name, ...texts), '/a.json');
    expect(unreadable).toMatchObject([{ code: `${name === 'page' ? 'page' : 'page_size'}_out_of_bounds` }]);
    expect(unreadable[0]?.detail.name).toBe(name);
  });

  it('is refused as negative if it is negative', () => {
    expect(toRequestedPage(sent('page', '-1'), '/a.json').unreadable[0]?.message).toBe('page must not be negative');
    expect(toRequestedPage(sent('page', '-0'), '/a.json').unreadable[0]?.message).toContain('sent at most once');
  });

  it.each([
    ['page', ['first']],
    ['page', ['1.5']],
    ['pageSize', ['']],
    ['page', ['1', 'x']],
  ])('has no bound if %s is %j, which is not a number', (name, texts) => {
    expect(toRequestedPage(sent(name, ...texts), '/a.json').unreadable).toEqual([]);
  });

  it('is not reported as unreadable if it is valid', () => {
    const query = new Map([['page', ['3']]]);
    expect(toRequestedPage(values({ page: 3, query }), '/a.json').unreadable).toEqual([]);
  });

  it('is reported once for each unreadable parameter', () => {
    const query = new Map([
      ['page', ['-1']],
      ['pageSize', ['-1']],
    ]);
    expect(toRequestedPage(values({ query }), '/a.json').unreadable).toHaveLength(2);
  });
});
