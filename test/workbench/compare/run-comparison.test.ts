import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { callerOf, compareAt, listSource, wordsOf } from './two-servers.ts';

/** Starts a server that belongs to one test. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpAfterTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const JSON_HEAD = { 'content-type': 'application/json' };
const action = (id: number, verb = 'commented') => ({ id, verb, extra: null });
const actions = (...list: unknown[]) => JSON.stringify({ actions: list, moreResults: 1 });
const says =
  (text: string): RequestListener =>
  (_, response) =>
    void response.writeHead(200, JSON_HEAD).end(text);
const TARGET = '/services/v2/action.json';

describe('runComparison', () => {
  it('counts exchanges five ways that add up', async () => {
    const old = await serve((request, response) => {
      const isBusy = request.url?.includes('page=2') === true;
      response.writeHead(isBusy ? 503 : 200, { ...JSON_HEAD, 'retry-after': '0' }).end(actions(action(1)));
    });
    const next = await serve((request, response) => {
      const verb = request.url?.includes('page=3') === true ? 'liked' : 'commented';
      response.writeHead(200, JSON_HEAD).end(actions(action(1, verb)));
    });
    const items = [
      { notMade: 'not a GET request' as const },
      ...['', '?page=2', '?page=3'].map((query) => ({ method: 'GET', target: TARGET + query })),
    ];
    const source = { ...listSource([]), next: () => Promise.resolve(items.shift()) };
    const { counts, found } = await compareAt({ old, new: next }, source, { ids: 'same', concurrency: 1 });
    expect(counts).toMatchObject({ exchanges: 4, equal: 1, different: 1, muted: 0, notComparable: 1, notMade: 1 });
    expect(counts.notComparableBecause).toEqual({ 'old server: status 503': 1 });
    expect(counts.notMadeBecause).toEqual({ 'not a GET request': 1 });
    expect(wordsOf(found)).toEqual(['listActions value /actions/*/verb']);
  });

  it('sends no credential that a recorded request has in its query', async () => {
    const asked: (string | undefined)[] = [];
    const listener: RequestListener = (request, response) => {
      asked.push(request.url);
      says(actions(action(1)))(request, response);
    };
    const servers = { old: await serve(listener), new: await serve(listener) };
    const { counts } = await compareAt(servers, listSource([`${TARGET}?access_token=abc`, TARGET]), { ids: 'same' });
    expect(counts.notMadeBecause).toEqual({ 'contains a credential': 1 });
    expect(asked).toEqual([TARGET, TARGET]);
  });

  it('asks both servers again about a difference, the new one first', async () => {
    const order: string[] = [];
    const named =
      (name: string, verb: string): RequestListener =>
      (_, response) => {
        order.push(name);
        response.writeHead(200, JSON_HEAD).end(actions(action(1, verb)));
      };
    const [old, next] = [await serve(named('old', 'commented')), await serve(named('new', 'liked'))];
    const pauses: number[] = [];
    const { counts } = await compareAt({ old, new: next }, listSource([TARGET]), {
      ids: 'same',
      askAgainAfterMs: 40,
      pause: (ms) => Promise.resolve(void pauses.push(ms)),
    });
    expect(order).toEqual(['old', 'new', 'new', 'old']);
    expect(pauses).toEqual([40]);
    expect(counts).toMatchObject({ different: 1, races: 0 });
  });

  it('does not judge an item at the edge of a page before it knows the other pages', async () => {
    const old = await serve(says(actions(action(1))));
    const next = await serve(says(actions(action(1), action(2))));
    const { found, counts, comparator } = await compareAt({ old, new: next }, listSource([TARGET]), { ids: 'same' });
    expect(wordsOf(found)).toEqual([]);
    expect(counts.equal).toBe(1);
    expect(comparator.undecided()).toBe(1);
  });

  it('keeps only the differences that both rounds have', async () => {
    let asked = 0;
    const old = await serve(says(actions(action(1))));
    const next = await serve((_, response) => {
      asked += 1;
      response.writeHead(200, JSON_HEAD).end(
        JSON.stringify({
          actions: [{ ...action(1, asked === 1 ? 'x' : 'commented'), private: true }],
          moreResults: 1,
        }),
      );
    });
    const lasting = await compareAt({ old, new: next }, listSource([TARGET]), { ids: 'same', askAgainAfterMs: 1 });
    expect(wordsOf(lasting.found)).toEqual(['listActions extra /actions/*/private']);
    asked = 0;
    const steady = await serve((_, response) => {
      asked += 1;
      // Each round has another difference, so neither lasts.
      const changed = asked === 1 ? action(1, 'x') : { ...action(1), extra: 'y' };
      response.writeHead(200, JSON_HEAD).end(actions(changed));
    });
    const race = await compareAt({ old, new: steady }, listSource([TARGET]), { ids: 'same', askAgainAfterMs: 1 });
    expect(race.counts).toMatchObject({ equal: 1, different: 0, races: 1 });
  });

  describe('of one server with itself, whose data is written', () => {
    /** Starts a server with 40 questions. `onRequest` may change them. */
    const questions = (onRequest: (count: number, items: object[]) => void) => {
      const itemOf = (id: number) => ({
        id,
        type: 'question',
        creationDate: id * 1_000_000,
        title: `title ${id}`,
        score: id,
      });
      const items: object[] = Array.from({ length: 40 }, (_, at) => itemOf(1000 - at));
      let count = 0;
      return serve((request, response) => {
        onRequest((count += 1), items);
        const page = Number(/page=(\d+)/.exec(request.url ?? '')?.[1]);
        const list = items.slice((page - 1) * 10, page * 10);
        const counts = { listCount: list.length, totalCount: items.length, pageCount: Math.ceil(items.length / 10) };
        response.writeHead(200, JSON_HEAD).end(JSON.stringify({ list, ...counts, pageSize: 10, page, sort: 'newest' }));
      });
    };
    const compareSelf = (url: string) =>
      compareAt(
        { old: url, new: url },
        listSource([1, 2, 3, 4, 5].map((page) => `/services/v2/question.json?sort=newest&page=${page}`)),
        { ids: 'same', concurrency: 1, isSelf: true },
      );

    it.each([2, 4, 5, 8])('does not report a question that was written before request %i', async (at) => {
      const url = await questions((count, items) => {
        if (count === at) items.unshift({ ...items[0], id: 2000, creationDate: 2_000_000_000 });
      });
      const { found, counts, comparator } = await compareSelf(url);
      expect(wordsOf(found)).toEqual([]);
      // Between the two requests for a page, it is a race. Between two pages, it is not even seen.
      expect(counts).toMatchObject({ equal: 5, races: at % 2 === 0 ? 1 : 0 });
      expect(comparator.undecided()).toBe(0);
    });

    it('still measures the values that change by themselves', async () => {
      const url = await questions((count, items) => {
        items[3] = { ...items[3], score: count <= 2 ? count : 3 };
        if (count === 2) items.unshift({ ...items[0], id: 2000, creationDate: 2_000_000_000 });
      });
      expect(wordsOf((await compareSelf(url)).found)).toEqual(['listQuestions value /list/*/score']);
    });
  });

  it('gives a server the time that it asks for', async () => {
    let now = 1_000_000;
    const times: number[] = [];
    const old = await serve((_, response) => {
      times.push(now);
      if (times.length === 1) response.writeHead(429, { 'retry-after': '7' }).end();
      else response.writeHead(200, JSON_HEAD).end(actions(action(1)));
    });
    const next = await serve(says(actions(action(1))));
    const { counts } = await compareAt({ old, new: next }, listSource([TARGET]), {
      ids: 'same',
      clock: () => now,
      pause: (ms) => Promise.resolve(void (now += ms)),
    });
    expect(counts).toMatchObject({ equal: 1, notComparable: 0 });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(7000);
  });

  it('sends no more requests than the delay allows, at any concurrency', async () => {
    let now = 0;
    const times: number[] = [];
    const old = await serve((_, response) => {
      times.push(now);
      response.writeHead(200, JSON_HEAD).end(actions());
    });
    const targets = Array.from({ length: 6 }, (_, at) => `${TARGET}?page=${at + 1}`);
    await compareAt({ old, new: old }, listSource(targets), {
      ids: 'same',
      concurrency: 3,
      delayMs: 100,
      clock: () => now,
      pause: (ms) => Promise.resolve(void (now += ms)),
    });
    expect(times).toHaveLength(12);
    // Six requests to each of the two clients, each at least 100 ms after the one before.
    expect(now).toBeGreaterThanOrEqual(500);
  });

  it('gives up a server that no longer responds, and says what was not sent', async () => {
    const old = await serve((request) => void request.socket.destroy());
    const targets = Array.from({ length: 60 }, (_, at) => `${TARGET}?page=${at + 1}`);
    const { run, counts } = await compareAt({ old, new: old }, listSource(targets), { ids: 'same', concurrency: 1 });
    expect(run.ended).toBe('old server fails');
    expect(counts.exchanges).toBe(60);
    expect(counts.notMadeBecause['planned, but not sent']).toBeGreaterThan(30);
  });

  it('finds a leak for one role even if every value is muted', async () => {
    const denial = JSON.stringify({
      errors: { message: "You don't have permission to do this action.<br>Please login as another user" },
    });
    const old = await serve((request, response) => {
      const isAdmin = request.headers.authorization === callerOf('admin').old;
      if (isAdmin) response.writeHead(200, JSON_HEAD).end(actions(action(1)));
      else response.writeHead(401, JSON_HEAD).end(denial);
    });
    const next = await serve(says(actions(action(1))));
    const { found, counts } = await compareAt({ old, new: next }, listSource([TARGET]), {
      ids: 'same',
      callers: ['admin', 'bob'].map(callerOf),
    });
    expect(found.map(({ entry, isLeak, roles }) => [entry.keyword, entry.category, isLeak, roles])).toEqual([
      ['compare-leak', 'permission-mismatch', true, ['bob']],
    ]);
    expect(counts).toMatchObject({ equal: 1, different: 1 });
  });

  it('sends neither writes nor anything that the contract does not know, unless it is told to', async () => {
    const seen: string[] = [];
    const old = await serve((request, response) => {
      seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
      response.writeHead(200, JSON_HEAD).end('{}');
    });
    const targets = ['/services/v2/users/gdpr/upload.json', '/services/v2/poll/5/delete.json'];
    const { counts } = await compareAt({ old, new: old }, listSource(targets), { ids: 'same' });
    expect(seen).toEqual([]);
    expect(counts.notMadeBecause).toEqual({ 'not in the contract': 2 });
    await compareAt({ old, new: old }, listSource(targets.slice(1)), { ids: 'same', undocumented: true });
    expect(seen).toEqual(['GET /services/v2/poll/5/delete.json', 'GET /services/v2/poll/5/delete.json']);
  });

  it('compares the headers that clients act upon, in which each server names itself', async () => {
    const heads: Record<string, readonly [Record<string, string>, Record<string, string>]> = {
      '1': [{ location: 'OLD/login' }, { location: 'NEW/login' }],
      '2': [{ location: 'OLD/login' }, { location: 'NEW/sign-in' }],
      '3': [{ location: 'OLD/login' }, { location: 'OLD/login' }],
      '4': [{ 'www-authenticate': 'Basic realm="a, b"' }, { 'www-authenticate': 'basic realm="c"' }],
      '5': [{ 'www-authenticate': 'Basic realm="a"' }, { 'www-authenticate': 'Bearer' }],
      '6': [{ 'www-authenticate': 'Basic realm="a"' }, {}],
    };
    const urls = { old: '', new: '' };
    const server =
      (side: 0 | 1): RequestListener =>
      (request, response) => {
        const [, page = ''] = /page=(\d)/.exec(request.url ?? '') ?? [];
        const own = Object.entries(heads[page]?.[side] ?? {}).map(([name, value]) => [
          name,
          value.replace('OLD', urls.old).replace('NEW', urls.new),
        ]);
        response.writeHead(Number(page) <= 3 ? 302 : 401, Object.fromEntries(own) as Record<string, string>).end();
      };
    Object.assign(urls, { old: await serve(server(0)), new: await serve(server(1)) });
    const words = [];
    for (const page of Object.keys(heads)) {
      const { found } = await compareAt(urls, listSource([`${TARGET}?page=${page}`]), { ids: 'same' });
      words.push(wordsOf(found));
    }
    const at = (kind: string, name: string) => [`listActions ${kind} ${name}`];
    expect(words).toEqual([
      [],
      at('value', 'location'),
      at('address', 'location'),
      [],
      at('value', 'www-authenticate'),
      at('missing', 'www-authenticate'),
    ]);
  });

  it('stays small if every exchange differs', async () => {
    const old = await serve(says(actions(action(1))));
    let count = 0;
    const next = await serve((_, response) => {
      count += 1;
      response.writeHead(200, JSON_HEAD).end(
        JSON.stringify({
          actions: [{ ...action(1, `verb ${count}`), [`field${count}`]: count }],
          moreResults: count,
        }),
      );
    });
    const targets = Array.from({ length: 800 }, (_, at) => `${TARGET}?page=${at + 1}`);
    const { found, counts, tally } = await compareAt({ old, new: next }, listSource(targets), {
      ids: 'same',
      askAgainAfterMs: undefined,
    });
    expect(counts.different).toBe(800);
    // The names of unknown fields are bounded, and so is the number of differences.
    expect(found.length).toBeLessThan(320);
    expect(JSON.stringify(tally.save()).length).toBeLessThan(400_000);
  }, 30_000);
});
