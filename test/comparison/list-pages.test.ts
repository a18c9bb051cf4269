import { describe, expect, it } from 'vitest';
import type { ExchangePair, SavedComparison } from '../../src/comparison/comparator.ts';
import { comparatorFor, readTarget } from '../workbench/compare/two-servers.ts';

const URLS = { old: 'http://old.example', new: 'http://new.example' };
const LIST = '/services/v2/question.json';

const item = (id: number) => ({ id: String(id), type: 'question', title: `A private title ${id}`, creationDate: -id });
const response = (json: unknown) => ({
  status: 200,
  mediaType: 'application/json',
  body: Buffer.from(JSON.stringify(json)),
});
const page = (ids: readonly number[], number: number, totalCount: number, sort = 'newest') =>
  response({
    list: ids.map(item),
    listCount: ids.length,
    totalCount,
    pageCount: 2,
    pageSize: 4,
    page: number,
    sort,
    name: '',
  });

function pair(
  number: number,
  old: readonly number[],
  next: readonly number[],
  totals: readonly [number, number],
): ExchangePair {
  const target = `${LIST}?pageSize=4&page=${number}`;
  const { operation, parameters } = readTarget(target);
  return {
    operation,
    parameters,
    target,
    role: 'bob',
    old: page(old, number, totals[0]),
    new: page(next, number, totals[1]),
  };
}

// The new server has no item 4, so all later items are on another place.
const FIRST = pair(1, [1, 2, 3, 4], [1, 2, 3, 5], [8, 7]);
const SECOND = pair(2, [5, 6, 7, 8], [6, 7, 8], [8, 7]);

const create = () => comparatorFor(URLS, { ids: 'same' }).comparator;
const wordsOf = (comparator: ReturnType<typeof create>) =>
  comparator.settle().map(({ difference, exchange }) => [difference.kind, difference.place.at, exchange?.target]);
const coverageOf = (comparator: ReturnType<typeof create>) =>
  new Set(
    Array.from(comparator.places(), ({ scope, at, location, compared, different }) =>
      JSON.stringify([scope.operation, location, at, compared, different]),
    ),
  );

describe('a comparison that continues', () => {
  it('knows the items at the edges of pages, and what was compared, as if it had not been interrupted', () => {
    const whole = create();
    for (const one of [FIRST, SECOND]) whole.compare(one).accept();
    const first = create();
    first.compare(FIRST).accept();
    const saved = JSON.stringify(first.save());
    expect(saved).not.toContain('private title');
    const second = create();
    second.restore(JSON.parse(saved) as SavedComparison);
    second.compare(SECOND).accept();
    expect(coverageOf(second)).toEqual(coverageOf(whole));
    const found = wordsOf(whole);
    expect(found).toEqual([['missing-item', '/list/*', `${LIST}?pageSize=4&page=1`]]);
    expect(wordsOf(second)).toEqual(found);
    expect([whole.undecided(), second.undecided()]).toEqual([0, 0]);
  });

  it('pairs items with other ids by what was saved of them, from which nothing can be read', () => {
    const moved = (ids: readonly number[], number: number) =>
      page(ids, number, 8)
        .body.toString()
        .replaceAll(/"id":"(\d+)"/g, '"id":"10$1"');
    const shift = (one: ExchangePair, ids: readonly number[], number: number): ExchangePair => ({
      ...one,
      new: { ...one.new, body: Buffer.from(moved(ids, number)) },
    });
    const learning = () => comparatorFor(URLS, { ids: 'learned' }).comparator;
    const first = learning();
    // The new server has put item 9 first, which it sends besides.
    first.compare(shift(pair(1, [1, 2, 3, 4], [], [8, 8]), [5, 1, 2, 3], 1)).accept();
    const second = comparatorFor(URLS, { ids: 'learned' }).comparator;
    second.restore(JSON.parse(JSON.stringify(first.save())) as SavedComparison);
    second.compare(shift(pair(2, [5, 6, 7, 8], [], [8, 8]), [4, 6, 7, 8], 2)).accept();
    expect(wordsOf(second)).toEqual([]);
    expect(second.undecided()).toBe(0);
  });
});

describe('a list of which all pages were compared', () => {
  const found = (...pairs: readonly ExchangePair[]) => {
    const comparator = create();
    for (const one of pairs) comparator.compare(one).accept();
    return comparator.settle().map(({ difference: { kind, place } }) => `${kind} ${place.at}`);
  };

  it('has another item if one is on two pages instead of another', () => {
    // Nobody knows the sort keys, so item 9 could have been on another page.
    const hottest = (number: number, old: readonly number[], next: readonly number[]): ExchangePair => ({
      ...pair(number, old, next, [8, 8]),
      old: page(old, number, 8, 'hottest'),
      new: page(next, number, 8, 'hottest'),
    });
    const words = found(hottest(1, [1, 2, 3, 4], [1, 2, 3, 9]), hottest(2, [5, 6, 7, 8], [5, 6, 7, 8]));
    expect(words).toEqual(['other-item /list/*', 'other-item /list/*']);
  });

  it('has a total that follows from items that are missing, also if only one page is known', () => {
    // Item 3 is certainly missing, and there may be more of them.
    expect(found(pair(1, [1, 2, 3, 4], [1, 2, 4], [8, 3]))).toEqual([]);
    expect(found(pair(1, [1, 2, 3, 4], [1, 2, 4], [8, 9]))).toEqual(['count /totalCount']);
    expect(found(pair(1, [1, 2, 3, 4], [1, 2, 3, 4], [8, 7]))).toEqual(['count /totalCount']);
  });
});

describe('a list that is sorted by the length of a list of which a caller sees only a part', () => {
  it('is judged by its order only if the old server shows the order', () => {
    const sorted = (old: readonly number[], next: readonly number[]) => {
      const target = `${LIST}?sort=commentCount`;
      const { operation, parameters } = readTarget(target);
      const body = (ids: readonly number[]) =>
        response({
          ...JSON.parse(page(ids, 1, ids.length, 'commentCount').body.toString()),
          list: ids.map((id) => ({ ...item(id), commentIds: Array.from({ length: id }, (_, at) => at) })),
        });
      const result = create().compare({ operation, parameters, target, role: 'bob', old: body(old), new: body(next) });
      return result.differences.map(({ kind }) => kind);
    };
    expect(sorted([4, 2, 3, 1], [4, 3, 2, 1])).toEqual([]);
    expect(sorted([4, 3, 2, 1], [4, 2, 3, 1])).toEqual(['order']);
  });
});

describe('a list that is sorted by something that its items do not show', () => {
  const sorted = (sort: string, order: readonly number[], change: (items: ReturnType<typeof item>[]) => object[]) => {
    const target = `${LIST}?sort=${sort}`;
    const { operation, parameters } = readTarget(target);
    const body = (ids: readonly number[]) =>
      response({ ...JSON.parse(page(ids, 1, ids.length, sort).body.toString()), list: change(ids.map(item)) });
    const comparator = create();
    const exchange = { operation, parameters, target, role: 'bob', old: body([1, 2, 3, 4]), new: body(order) };
    const { differences, equivalences } = comparator.compare(exchange);
    return { kinds: differences.map(({ kind }) => kind), same: [...equivalences.keys()] };
  };
  const asIs = (items: object[]) => items;

  it('is not judged by its order, which is counted', () => {
    for (const sort of ['hottest', 'followers', 'favoriteCount', 'usedCount'])
      expect(sorted(sort, [4, 2, 1, 3], asIs)).toEqual({ kinds: [], same: ['order by a value that is not shown'] });
  });

  it('is judged by everything else, and strictly if the contract does not say so', () => {
    expect(sorted('hottest', [4, 2, 1], asIs).kinds).toEqual(expect.arrayContaining(['missing-item']));
    expect(sorted('strange', [4, 2, 1, 3], asIs).kinds).toEqual(['order']);
    expect(sorted('newest', [4, 2, 1, 3], asIs).kinds).toEqual(['order']);
  });

  it('is not judged by a key that the request has left out of the items', () => {
    const without = (items: ReturnType<typeof item>[]) => items.map(({ id, type }) => ({ id, type }));
    expect(sorted('newest', [4, 2, 1, 3], without).kinds).toEqual([]);
  });
});
