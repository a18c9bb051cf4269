import { describe, expect, it } from 'vitest';
import { type PageParameters, toAskedPage } from '../../src/paging/asked-page.ts';

const values = (more: Partial<PageParameters> = {}): PageParameters => ({
  page: undefined,
  pageSize: undefined,
  query: new Map(),
  ...more,
});
const sent = (name: string, ...texts: string[]) => values({ query: new Map([[name, texts]]) });

describe('the page that a target asks for', () => {
  it('is that of its decoded parameters, with the list that it is a page of', () => {
    const query = new Map([
      ['page', ['2']],
      ['pageSize', ['15']],
    ]);
    expect(toAskedPage({ page: 2, pageSize: 15, query }, '/a.json?q=x&page=2&pageSize=15')).toEqual({
      page: 2,
      pageSize: 15,
      unreadable: [],
      listTarget: '/a.json?q=x&pageSize=15',
    });
  });

  it('is none where the parameters are absent', () => {
    expect(toAskedPage(values(), '/a.json')).toEqual({
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
  ])('cannot be held to its bounds where %s is %j', (name, texts) => {
    const { unreadable } = toAskedPage(sent(name, ...texts), '/a.json');
    expect(unreadable).toMatchObject([{ code: `${name === 'page' ? 'page' : 'page_size'}_out_of_bounds` }]);
    expect(unreadable[0]?.detail.name).toBe(name);
  });

  it.each([
    ['page', ['first']],
    ['page', ['1.5']],
    ['pageSize', ['']],
    ['page', ['1', 'x']],
  ])('has no bound where %s is %j, which is no number', (name, texts) => {
    expect(toAskedPage(sent(name, ...texts), '/a.json').unreadable).toEqual([]);
  });

  it('that could be read is not told as unreadable', () => {
    const query = new Map([['page', ['3']]]);
    expect(toAskedPage(values({ page: 3, query }), '/a.json').unreadable).toEqual([]);
  });

  it('may be unreadable twice', () => {
    const query = new Map([
      ['page', ['-1']],
      ['pageSize', ['-1']],
    ]);
    expect(toAskedPage(values({ query }), '/a.json').unreadable).toHaveLength(2);
  });
});
