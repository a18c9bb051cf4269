import { describe, expect, it } from 'vitest';
import { createPageCounts, type PageCounts, type SharedPageCounts } from '../../../../src/engine/paging/page-counts.ts';
import { bodyFactsOf } from '../../../../src/engine/pipeline/body-facts.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { boundPage } from '../../../../src/engine/pipeline/stages/bound-page.ts';
import {
  createNext,
  exchangeWith,
  failureOf,
  type FakeNext,
  pageOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  violationWith,
} from '../../../builders/exchange.ts';
import { ownPageCounts } from '../../../builders/own-pages.ts';
import { createTestClock, type TestClock } from '../../../builders/test-clock.ts';

interface Bounded {
  readonly counts: PageCounts;
  readonly clock: TestClock;
  readonly next: FakeNext;
  readonly ask: (
    page?: number,
    pageSize?: number,
    path?: Record<string, string>,
  ) => ReturnType<ReturnType<typeof stageIn>>;
}

const UNSHARED: SharedPageCounts = ownPageCounts(createTestClock());

function bounded(parts: PlannedParts = {}, next = createNext(), shared = UNSHARED): Bounded {
  const clock = createTestClock();
  const counts = createPageCounts({ maxAgeSeconds: 300, maxEntries: 10 }, clock);
  const handle = stageIn(boundPage(counts, shared), plannedWith(parts), next);
  const ask: Bounded['ask'] = (page, pageSize, path = {}) => {
    const target = `/services/v2/thing.json${page === undefined ? '' : `?page=${page}`}`;
    return handle(exchangeWith({ target, values: { page, pageSize, path } }));
  };
  return { counts, clock, next, ask };
}

/** Creates a page as the cache returns it, without the facts about its body. */
const storedPage = (pageCount: number) => {
  const { facts: _facts, ...page } = replyWith(pageOf([1], pageCount));
  return page;
};

describe('bound-page', () => {
  it('has work only if pages are checked and the operation accepts them', () => {
    const { counts } = bounded();
    const stage = boundPage(counts, UNSHARED);
    expect(stage.plan(plannedWith({ checks: { pageBounds: 'off' } }))).toBeUndefined();
    expect(stage.plan(plannedWith({ operation: { paging: undefined } }))).toBeUndefined();
    expect(stage.plan(plannedWith())).toBeDefined();
  });

  it('refuses a page size above the maximum before sending a request', async () => {
    const { ask, next } = bounded();
    expect(await failureOf(ask(1, 101))).toMatchObject({ code: 'page_size_out_of_bounds', status: 400 });
    expect(next.asked).toEqual([]);
  });

  it.each([
    ['pageSize', '500', 'pageSize must be an integer from 1 to 40 (pageBounds.maxPageSize)'],
    ['pageSize', '9999999999', 'pageSize must be an integer from 1 to 40 (pageBounds.maxPageSize)'],
    ['page', '9999999999', 'page must be sent at most once, as an integer of at least 0'],
  ])('names the bound of %s, and not the value, when it reports %s', async (name, text, message) => {
    const counts = createPageCounts({ maxAgeSeconds: 300, maxEntries: 10 }, createTestClock());
    const planned = plannedWith({ checks: { pageBounds: 'report' }, maxPageSize: 40 });
    const value = Number(text);
    const values = value < 1_000_000 ? { [name]: value } : { query: new Map([[name, [text]]]) };
    const exchange = exchangeWith({ values });
    await stageIn(boundPage(counts, UNSHARED), planned, createNext())(exchange);
    expect(exchange.trace.violations).toMatchObject([{ category: 'bounds', message }]);
  });

  it.each(['page', 'pageSize'])(
    'refuses a %s that the request check did not refuse and no bound permits',
    async (name) => {
      const next = createNext();
      const query = new Map([[name, ['9999999999']]]);
      const handle = (parts: PlannedParts) =>
        stageIn(
          boundPage(createPageCounts({ maxAgeSeconds: 300, maxEntries: 10 }, createTestClock()), UNSHARED),
          plannedWith(parts),
          next,
        )(exchangeWith({ values: { query } }));
      expect(await failureOf(handle({}))).toMatchObject({ code: expect.stringMatching(/out_of_bounds$/) as unknown });
      expect(next.asked).toEqual([]);
      await handle({ checks: { pageBounds: 'report' } });
      expect(next.asked).toHaveLength(1);
    },
  );

  it('forwards a page within its bounds and records it', async () => {
    const { next, ask } = bounded();
    await ask(2, 100);
    expect(next.asked[0]?.trace).toMatchObject({
      pageBounds: { level: 'enforce', outcome: 'passed' },
      violations: [],
    });
  });

  it('refuses a request beyond the page count of the response, as a violation of the request', async () => {
    const { ask, next } = bounded();
    expect(await failureOf(ask(4))).toMatchObject({ code: 'page_out_of_bounds', details: [{ name: 'page' }] });
    expect(next.asked[0]?.trace).toMatchObject({
      pageBounds: { outcome: 'refused' },
      violations: [{ check: 'pageBounds', direction: 'request', keyword: 'page_out_of_bounds' }],
    });
  });

  it('reveals no value of the request, and reports a page once if it was already found invalid', async () => {
    const stage = boundPage(noCounts(), UNSHARED).plan(plannedWith({ checks: { pageBounds: 'report' } }));
    const handle = stage?.(() => storedPage(3));
    const far = exchangeWith({ values: { page: 4711 } });
    void handle?.(far);
    expect(far.trace.violations).toMatchObject([{ category: 'bounds', at: 'page', found: 'integer' }]);
    expect(JSON.stringify(far.trace.violations)).not.toContain('4711');
    const reported = violationWith({ check: 'requests', location: 'query', at: 'page' });
    const wrong = exchangeWith({ values: { page: 4711 } });
    wrong.trace.violations.push(reported);
    void handle?.(wrong);
    expect(wrong.trace).toMatchObject({ pageBounds: { outcome: 'reported' }, violations: [reported] });
    expect(wrong.trace.violations).toHaveLength(1);
  });

  it('reports a page once at the `report` level, even if it exceeds both the learned count and the response’s own', async () => {
    const { ask, next } = bounded({ checks: { pageBounds: 'report' } });
    await ask();
    const reply = await ask(9);
    expect(reply.status).toBe(200);
    expect(next.asked[1]?.trace.violations).toHaveLength(1);
    expect(next.asked[1]?.trace.pageBounds).toEqual({ level: 'report', outcome: 'reported' });
  });

  it('refuses by a learned count only pages beyond that count plus one', async () => {
    const { ask, next } = bounded();
    await ask();
    await failureOf(ask(5));
    expect(next.asked).toHaveLength(1);
    await failureOf(ask(4));
    expect(next.asked).toHaveLength(2);
  });

  it('learns counts separately for each caller, filter and size', async () => {
    const next = createNext();
    const { counts } = bounded();
    const handle = stageIn(boundPage(counts, UNSHARED), plannedWith(), next);
    await handle(exchangeWith());
    next.respond = () => replyWith(pageOf([1], 50));
    await handle(exchangeWith({ audience: 'caller:other', values: { page: 40 } }));
    await handle(exchangeWith({ target: '/services/v2/thing.json?spaceId=5', values: { page: 40 } }));
    expect(next.asked).toHaveLength(3);
  });

  it('uses a count that another gateway has learned, and looks it up only for pages after the first', async () => {
    const lookups: string[] = [];
    const find = async (key: string) => Promise.resolve(lookups.push(key) > 0 ? 3 : undefined);
    const { ask, next } = bounded({}, createNext(), { mayKnow: () => true, find });
    expect(await failureOf(ask(9))).toMatchObject({ code: 'page_out_of_bounds' });
    expect([lookups.length, next.asked.length]).toEqual([1, 0]);
    await ask();
    // The page count has been learned from the response to the first page, so no other lookup is needed.
    await ask(2);
    expect([lookups.length, next.asked.length]).toEqual([1, 2]);
  });

  it('learns nothing from operations without a page count', async () => {
    const paging = { firstPage: 1, observedPageSize: 20, hasPageCount: false } as const;
    const { ask, counts } = bounded({ operation: { paging } });
    await ask(9);
    expect(counts.size).toBe(0);
  });

  it('learns nothing from errors', async () => {
    const { ask, counts } = bounded({}, createNext(replyWith(pageOf([1]), { status: 404 })));
    await ask(9);
    expect(counts.size).toBe(0);
  });

  it('forgets the count of a list whose responses no longer contain one, so that its bound is waived', async () => {
    const { ask, next } = bounded();
    await ask();
    next.respond = () => replyWith({ list: [], totalCount: 0, pageCount: 0 }, { pageCount: undefined });
    await ask(2);
    await ask(9);
    expect(next.asked).toHaveLength(3);
  });

  it('keeps the count if a response could not be read', async () => {
    const { ask, next } = bounded();
    await ask();
    next.respond = () => ({
      status: 200,
      headers: [],
      body: Buffer.of(1),
      facts: { validity: 'skipped', body: bodyFactsOf(plannedWith(), undefined) },
    });
    await ask(2);
    await failureOf(ask(9));
    expect(next.asked).toHaveLength(2);
  });

  it('ignores a stored page with a lower page count than was learned since', async () => {
    const { ask, next } = bounded({}, createNext(replyWith(pageOf([1], 9))));
    await ask();
    next.respond = () => storedPage(3);
    await ask(2);
    next.respond = () => replyWith(pageOf([1], 9));
    await ask(8);
    expect(next.asked).toHaveLength(3);
  });

  it('uses a stored page with a higher page count', async () => {
    const { ask, next } = bounded();
    await ask();
    next.respond = () => storedPage(9);
    await ask();
    await ask(9);
    expect(next.asked).toHaveLength(3);
  });

  it('does not extend the lifetime of a learned count by serving the same page again', async () => {
    const { ask, next, clock } = bounded();
    await ask();
    next.respond = () => storedPage(3);
    clock.advance(299);
    await ask();
    clock.advance(2);
    await failureOf(ask(9));
    expect(next.asked).toHaveLength(3);
  });

  it("applies a stored page's own count too", async () => {
    const { ask } = bounded({}, createNext(storedPage(3)));
    expect(await failureOf(ask(4))).toMatchObject({ code: 'page_out_of_bounds' });
  });

  it('drops a count together with the tag of the node for which it was learned', async () => {
    const cacheability = { byDefault: true, tags: ['users', 'node:{nodeId}'] };
    const { ask, next, counts } = bounded({ operation: { cacheability } });
    await ask(undefined, undefined, { nodeId: '7' });
    counts.drop(['node:8']);
    await failureOf(ask(9));
    counts.drop(['node:7']);
    next.respond = () => replyWith(pageOf([1], 20));
    await ask(9);
    expect(next.asked).toHaveLength(2);
  });

  it('learns nothing from a response during which its tag was dropped', async () => {
    const next = createNext();
    const { ask, counts } = bounded({}, next);
    next.respond = () => {
      counts.drop(['things']);
      return replyWith(pageOf([1]));
    };
    await ask();
    expect(counts.size).toBe(0);
  });
});

const noCounts = () => createPageCounts({ maxAgeSeconds: 300, maxEntries: 10 }, createTestClock());

const bounding = (reply: Reply | Promise<Reply>, memory = noCounts()) => {
  const handle = boundPage(memory, UNSHARED).plan(plannedWith())?.(() => reply);
  if (handle === undefined) throw new Error('no work');
  return handle;
};

describe('bound-page before a page from memory', () => {
  it('returns synchronously, and waits if it has to', async () => {
    const page = storedPage(3);
    expect(bounding(page)(exchangeWith({ values: { page: 2 } }))).toBe(page);
    const later = bounding(Promise.resolve(page))(exchangeWith({ values: { page: 2 } }));
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(page);
  });

  it("refuses synchronously what lies beyond the stored page's count or the learned one", () => {
    const memory = noCounts();
    const handle = bounding(storedPage(3), memory);
    expect(() => handle(exchangeWith({ values: { page: 4 } }))).toThrow('page');
    void handle(exchangeWith());
    expect(() => handle(exchangeWith({ values: { page: 9 } }))).toThrow('page');
    expect(() => handle(exchangeWith({ values: { pageSize: 101 } }))).toThrow('pageSize 101');
  });

  it('does not learn a forgotten count again, and reads no parameters for it', () => {
    const memory = noCounts();
    const handle = bounding(storedPage(3), memory);
    const exchange = exchangeWith({ requestedPage: exchangeWith({ values: { page: 2 } }).requestedPage });
    let decoded = 0;
    const values = () => {
      decoded += 1;
      return exchange.values();
    };
    for (let times = 0; times < 3; times += 1) void handle({ ...exchange, values });
    expect(decoded).toBe(0);
    expect(memory.size).toBe(0);
  });

  it('does not share the verdict of one request with another', () => {
    const stage = boundPage(noCounts(), UNSHARED).plan(plannedWith({ checks: { pageBounds: 'report' } }));
    const handle = stage?.(() => storedPage(3));
    const [bad, good] = [exchangeWith({ values: { page: 9 } }), exchangeWith({ values: { page: 2 } })];
    void handle?.(bad);
    void handle?.(good);
    expect([bad.trace.pageBounds?.outcome, good.trace.pageBounds?.outcome]).toEqual(['reported', 'passed']);
    expect([bad.trace.violations.length, good.trace.violations.length]).toEqual([1, 0]);
  });
});
