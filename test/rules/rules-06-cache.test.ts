import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/portico-settings.ts';
import type { ClientResponse, Call } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText, htmlPage } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import {
  type FakeResponse,
  type FakeHandler,
  type FakeUpstream,
  startFakeUpstream,
} from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

const QUESTIONS = '/services/v2/question.json';
const FOLLOWERS = '/services/v2/topic/33/followers.json';
const clock = createTestClock();

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, clock });
});
beforeEach(async () => {
  await forget(gateway);
  fake.handler = exampleResponse;
});

/** Empties the cache and resets the record of upstream requests. */
async function forget(one: TestGateway): Promise<void> {
  const { json } = await one.admin('/cache/purge', { method: 'POST', body: { all: true } });
  expect(json).toHaveProperty('purged');
  fake.requests.length = 0;
}

const asked = () => fake.requests.length;
const stateOf = (reply: ClientResponse) => reply.headers['cache-status'];
const read = (target: string, user: string | null = 'alice', call: Call = {}) =>
  gateway.call(target, { ...call, user });

/** Returns a response with a page of questions whose first question has this title. */
function questionsTitled(title: string): FakeResponse {
  const page = exampleOf('listQuestions');
  page.list[0]['title'] = title;
  return { json: page };
}
/** Responds with a page that contains the number of earlier fetches. */
const numbered: FakeHandler = ({ path }) =>
  path === QUESTIONS ? questionsTitled(`page ${asked()}`) : exampleResponse({ method: 'GET', path });
const titleOf = (reply: ClientResponse) => reply.json.list[0].title;

async function freshTitle(): Promise<{ lastTitle: string }> {
  for (;;) {
    const reply = await read(QUESTIONS);
    if (stateOf(reply) === 'portico; hit; ttl=30') return { lastTitle: titleOf(reply) };
  }
}

const shared = (audience: string, more: object = {}) => ({
  operations: { listQuestions: { cache: { audience, ...more } } },
});

const byCaller: FakeHandler = ({ user }) => questionsTitled(`for ${user}`);

const alike: FakeHandler = () => questionsTitled('for all');

/**
 * Sends the same request twice while the upstream responds with `sends`. Returns the number of requests that reached
 * the upstream.
 */
async function askedTwice(sends: FakeResponse, one = gateway, target = QUESTIONS): Promise<number> {
  await forget(one);
  fake.handler = () => sends;
  await one.call(target);
  await one.call(target);
  return asked();
}

describe('rules 6: cacheable by default are 6, 8, 9, 10, 13, 14, 15 and 16', () => {
  const reads = OPERATIONS.filter(({ method }) => method === 'GET');
  it.each(reads)('$id', async (operation) => {
    const replies = [await read(targetOf(operation), 'admin'), await read(targetOf(operation), 'admin')];
    expect(asked()).toBe(operation.cached ? 1 : 2);
    expect(replies[1]?.bytes).toEqual(replies[0]?.bytes);
    expect(replies[1]?.headers['cache-status'] === 'portico; hit; ttl=30').toBe(operation.cached === true);
  });

  it('5 and 7 can be switched on, and any can be switched off', async () => {
    const operations = {
      listNodeComments: { cache: { enabled: true } },
      listActions: { cache: { enabled: true } },
      listIdeas: { cache: { enabled: false } },
    };
    const other = await startTestGateway({ upstream: fake, clock, config: { operations } });
    for (const [id, times] of [
      ['listNodeComments', 1],
      ['listActions', 1],
      ['listIdeas', 2],
    ] as const) {
      fake.requests.length = 0;
      for (const _again of [1, 2]) await other.call(targetOf(operationOf(id)));
      expect([id, asked()]).toEqual([id, times]);
    }
  });
});

describe('rules 6: fresh 30 s, stale-while-revalidate 30 s, stale-if-error 300 s', () => {
  beforeEach(() => {
    fake.handler = numbered;
  });

  it('serves a fresh page without a request', async () => {
    await read(QUESTIONS);
    clock.advance(29);
    const hit = await read(QUESTIONS);
    expect([titleOf(hit), stateOf(hit), hit.headers.age, asked()]).toEqual(['page 1', 'portico; hit; ttl=1', '29', 1]);
  });

  it('serves a stale page immediately and refreshes it once in the background', async () => {
    await read(QUESTIONS);
    clock.advance(45);
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async () => {
      await release;
      return questionsTitled('the new one');
    };
    const stale = await Promise.all([read(QUESTIONS), read(QUESTIONS), read(QUESTIONS)]);
    expect(stale.map(titleOf)).toEqual(['page 1', 'page 1', 'page 1']);
    expect(stale.map(stateOf)).toEqual(Array.from({ length: 3 }, () => 'portico; hit; ttl=-15'));
    await fake.received(2);
    resolve();
    const { lastTitle } = await freshTitle();
    expect([lastTitle, asked()]).toEqual(['the new one', 2]);
  });

  it('fetches again beyond both', async () => {
    await read(QUESTIONS);
    clock.advance(60);
    const again = await read(QUESTIONS);
    expect([titleOf(again), stateOf(again)]).toEqual(['page 2', 'portico; fwd=stale; stored']);
  });

  it.each([
    { name: 'an error', failing: () => errorText(500, 'broken') },
    { name: '503', failing: () => errorText(503, 'broken') },
    { name: 'an HTML page', failing: () => htmlPage(401) },
    { name: 'an error inside a success response', failing: () => errorText(200, 'broken') },
    { name: 'a broken connection', failing: ((_request, response) => void response.socket?.destroy()) as FakeHandler },
  ])('serves a stale page instead of $name', async ({ failing }) => {
    await read(QUESTIONS);
    fake.handler = failing;
    clock.advance(329);
    const stale = await read(QUESTIONS);
    expect([stale.status, titleOf(stale), stale.headers.age]).toEqual([200, 'page 1', '329']);
    expect(stateOf(stale)).toBe('portico; fwd=stale; ttl=-299; detail=stale-if-error');
    clock.advance(1);
    expect((await read(QUESTIONS)).status).toBeGreaterThanOrEqual(500);
  });

  it('does not hide that the page may no longer be read', async () => {
    await read(QUESTIONS);
    fake.handler = () => errorText(403, 'You do not have permission');
    clock.advance(100);
    expectError(await read(QUESTIONS), 403, 'upstream_permission_denied');
  });

  it('drops the page when a refresh is refused', async () => {
    await read(QUESTIONS);
    fake.handler = () => errorText(404, 'gone');
    clock.advance(45);
    expect((await read(QUESTIONS)).status).toBe(200);
    await until(() => gateway.gateway.services.cache.stats().entries === 0);
    expectError(await read(QUESTIONS), 404, 'upstream_not_found');
  });
});

describe('rules 6: the cache key', () => {
  it.each([
    { target: QUESTIONS, first: 'page=1', other: 'page=0' },
    { target: '/services/v2/idea.json', first: 'page=1', other: 'page=0' },
    { target: FOLLOWERS, first: 'page=0', other: 'page=1' },
    { target: '/services/v2/node/118/followers.json', first: 'page=0', other: 'page=1' },
  ])(
    'is the same for an absent page and the declared first one, without page upstream: $target',
    async ({ target, first, other }) => {
      await read(`${target}?${first}`);
      const hit = await read(target);
      expect([asked(), fake.requests[0]?.target, stateOf(hit)]).toEqual([1, target, 'portico; hit; ttl=30']);
      await read(`${target}?${other}`);
      expect(fake.requests.at(-1)?.target).toBe(`${target}?${other}`);
    },
  );

  it('differs for page 0 and page 1', async () => {
    fake.handler = numbered;
    const one = await read(`${QUESTIONS}?page=1`);
    const zero = await read(`${QUESTIONS}?page=0`);
    expect([titleOf(one), titleOf(zero), asked()]).toEqual(['page 1', 'page 2', 2]);
  });

  it('differs for an absent pageSize and a number', async () => {
    await read(QUESTIONS);
    await read(`${QUESTIONS}?pageSize=15`);
    expect(fake.requests.map(({ target }) => target)).toEqual([QUESTIONS, `${QUESTIONS}?pageSize=15`]);
  });

  it("is the same for an absent pageSize and the deployment's own if configured", async () => {
    const config = { cache: { defaultPageSize: { listQuestions: 15 } } };
    const other = await startTestGateway({ upstream: fake, clock, config });
    await other.call(`${QUESTIONS}?pageSize=15`);
    await other.call(QUESTIONS);
    await other.call('/services/v2/idea.json');
    await other.call('/services/v2/idea.json?pageSize=15');
    expect(fake.requests.map(({ target }) => target)).toEqual([
      QUESTIONS,
      '/services/v2/idea.json',
      '/services/v2/idea.json?pageSize=15',
    ]);
  });

  it.each([
    ['q=a%20b', 'q=a+b'],
    ['topics=a,b', 'topics=a%2Cb'],
    ['topics=a&topics=b', 'topics=b&topics=a'],
    ['sort=newest', 'sort=votes'],
    ['q=x&sort=votes', 'sort=votes&q=x'],
  ])("is the exact target, in the client's encoding: %s and %s", async (one, other) => {
    await read(`${QUESTIONS}?${one}`);
    await read(`${QUESTIONS}?${other}`);
    expect(fake.requests.map(({ target }) => target)).toEqual([`${QUESTIONS}?${one}`, `${QUESTIONS}?${other}`]);
  });

  it('contains the audience: callers do not share by default', async () => {
    fake.handler = ({ user }) => questionsTitled(`for ${user}`);
    const titles = [];
    for (const user of ['alice', 'bob', 'alice', 'bob']) titles.push(titleOf(await read(QUESTIONS, user)));
    expect(titles).toEqual(['for alice', 'for bob', 'for alice', 'for bob']);
    expect(asked()).toBe(2);
  });
});

describe('rules 6: shared audiences', () => {
  it.each(['permissions', 'public'])('%s needs a service credential or assumeImpersonal', async (audience) => {
    await expect(startTestGateway({ upstream: fake, config: shared(audience) })).rejects.toMatchObject({
      faults: [{ pointer: '/operations/listQuestions/cache/audience' }],
    });
  });

  it('permissions: only callers with equal permissions share', async () => {
    const carol = { name: 'carol', roles: ['standard', 'custom'], groups: ['Beta Testers', 'Newcomers'] };
    const roles = await fastRoles([carol]);
    const config = { ...shared('permissions', { assumeImpersonal: true }), cache: { sampleShared: 0 } };
    const other = await startTestGateway({ upstream: fake, clock, roles, config });
    fake.handler = byCaller;
    const titles = [];
    for (const user of ['bob', 'carol', 'alice', 'guest']) titles.push(titleOf(await other.call(QUESTIONS, { user })));
    expect(titles).toEqual(['for bob', 'for bob', 'for alice', 'for guest']);
  });

  it('public: all callers share, and the service account fetches', async () => {
    const credentials = { kind: 'service', username: 'robot', password: 'robot-secret' };
    const other = await startTestGateway({
      upstream: fake,
      clock,
      config: { ...shared('public'), upstream: { credentials } },
    });
    fake.handler = byCaller;
    const titles = [];
    for (const user of ['bob', 'alice', 'admin']) titles.push(titleOf(await other.call(QUESTIONS, { user })));
    expect(titles).toEqual(['for robot', 'for robot', 'for robot']);
    expect((await other.call(QUESTIONS, { user: 'nobody' })).status).toBe(403);
  });

  it('a sampled comparison demotes the operation if two responses differ, and drops its stored pages', async () => {
    const config = shared('public', { assumeImpersonal: true });
    const other = await startTestGateway({ upstream: fake, clock, config, random: () => 0 });
    fake.handler = alike;
    await other.call(QUESTIONS, { user: 'alice' });
    expect(stateOf(await other.call(QUESTIONS, { user: 'bob' }))).toBe('portico; hit; ttl=30');
    await fake.received(2);
    expect(fake.requests[1]?.user).toBe('bob');
    expect(other.gateway.services.guard.demoted()).toEqual([]);
    await forget(other);
    fake.handler = byCaller;
    await other.call(QUESTIONS, { user: 'alice' });
    expect(titleOf(await other.call(QUESTIONS, { user: 'bob' }))).toBe('for alice');
    await until(() => other.gateway.services.guard.demoted().includes('listQuestions'));
    expect(titleOf(await other.call(QUESTIONS, { user: 'bob' }))).toBe('for bob');
    expect(titleOf(await other.call(QUESTIONS, { user: 'alice' }))).toBe('for alice');
    expect(other.log.some((line) => line.includes('responses differ between callers'))).toBe(true);
  });
});

describe('rules 6: stored responses', () => {
  const page = exampleOf('listQuestions');
  const drifted = { ...page, list: [{ ...page.list[0], id: 'one' }] };
  const halved = { rows: page.list };

  it.each([
    { name: 'an error', sends: errorText(404, 'none') },
    { name: 'a server error', sends: errorText(500, 'none') },
    { name: 'Set-Cookie', sends: { json: page, headers: { 'Set-Cookie': 'theme=1' } } },
    { name: 'Vary: Cookie', sends: { json: page, headers: { Vary: 'Accept-Encoding, Cookie' } } },
    { name: 'Vary: *', sends: { json: page, headers: { Vary: '*' } } },
    { name: 'malformed JSON', sends: { body: '{"list":[', headers: { 'Content-Type': 'application/json' } } },
    { name: 'another media type', sends: { body: JSON.stringify(page), headers: { 'Content-Type': 'text/plain' } } },
    { name: 'a violation of the contract', sends: { json: drifted } },
    { name: 'another success status', sends: { status: 201, json: page } },
  ])('never include: $name', async ({ sends }) => {
    expect(await askedTwice(sends)).toBe(2);
  });

  it.each([
    { name: 'a plain page', sends: { json: page } },
    { name: 'Vary: Accept-Encoding', sends: { json: page, headers: { Vary: 'accept-encoding' } } },
    {
      name: 'Cache-Control: no-store, which is ignored',
      sends: { json: page, headers: { 'Cache-Control': 'no-store' } },
    },
    { name: 'additional fields', sends: { json: { ...page, unheardOf: 1 } } },
  ])('always include: $name', async ({ sends }) => {
    expect(await askedTwice(sends)).toBe(1);
  });

  it.each([
    { variant: 'wrap=true', kept: 'the ordinary form', body: page, times: 1 },
    { variant: 'wrap=true', kept: 'no other form', body: { question: page }, times: 2 },
    { variant: 'v1=true', kept: 'no other form', body: { question: page }, times: 2 },
  ])('of the variant $variant: $kept', async ({ variant, body, times }) => {
    expect(await askedTwice({ json: body }, gateway, `${QUESTIONS}?${variant}`)).toBe(times);
  });

  it('include violations inside the envelope with store: wellFormed, but not with valid or accepted', async () => {
    const wellFormed = await startTestGateway({ upstream: fake, clock, config: { cache: { store: 'wellFormed' } } });
    expect(await askedTwice({ json: drifted }, wellFormed)).toBe(1);
    expect(await askedTwice({ json: halved }, wellFormed)).toBe(2);
    expect(await askedTwice({ json: drifted }, gateway)).toBe(2);
  });

  it('include any 200 JSON in the envelope with responses off', async () => {
    const unjudged = await startTestGateway({ upstream: fake, clock, config: { checks: { responses: 'off' } } });
    expect(await askedTwice({ json: drifted }, unjudged)).toBe(1);
    expect(await askedTwice({ json: halved }, unjudged)).toBe(2);
    expect(await askedTwice(errorText(200, 'broken'), unjudged)).toBe(2);
  });

  it('include only checked ones with `store: valid`', async () => {
    const config = { cache: { store: 'valid' }, operations: { listIdeas: { checks: { responses: 'off' } } } };
    const valid = await startTestGateway({ upstream: fake, clock, config });
    expect(await askedTwice({ json: page }, valid)).toBe(1);
    expect(await askedTwice({ json: exampleOf('listIdeas') }, valid, '/services/v2/idea.json')).toBe(2);
  });

  it("follow the upstream's Cache-Control with respectUpstream", async () => {
    const respectful = await startTestGateway({ upstream: fake, clock, config: { cache: { respectUpstream: true } } });
    for (const control of ['no-store', 'private', 'no-cache', 'max-age=0'])
      expect([control, await askedTwice({ json: page, headers: { 'Cache-Control': control } }, respectful)]).toEqual([
        control,
        2,
      ]);
    expect(await askedTwice({ json: page, headers: { 'Cache-Control': 'max-age=5' } }, respectful)).toBe(1);
    expect(stateOf(await respectful.call(QUESTIONS))).toBe('portico; hit; ttl=5');
  });
});

function send(id: string): Promise<ClientResponse> {
  const operation = operationOf(id);
  const { method, body } = operation;
  return gateway.call(targetOf(operation), { method, ...(body !== undefined && { body }) });
}
const denied = () => gateway.call('/services/v2/node/118/unmarkfavorite.json', { method: 'PUT', user: 'guest' });
const purgeIdeas = () => gateway.admin('/cache/purge', { method: 'POST', body: { tags: ['ideas'] } });

describe('rules 6: writes purge', () => {
  const lists = {
    questions: QUESTIONS,
    ideas: '/services/v2/idea.json',
    articles: '/services/v2/article.json',
    comments: '/services/v2/answer/204/comment.json',
    users: '/services/v2/group/7/user.json',
    topics: '/services/v2/user/18/expertise.json',
    followersOfNode: '/services/v2/node/118/followers.json',
  };
  type ListName = keyof typeof lists;

  /** Returns the names of the lists that are no longer stored after a write. */
  async function goneAfter(write: () => Promise<unknown>, one = gateway): Promise<ListName[]> {
    for (const target of Object.values(lists)) await one.call(target);
    await write();
    const gone: ListName[] = [];
    for (const [name, target] of Object.entries(lists) as [ListName, string][])
      if (!(stateOf(await one.call(target)) ?? '').includes('hit')) gone.push(name);
    return gone;
  }
  it.each([
    { id: 'unmarkFavorite', gone: ['questions', 'ideas', 'articles', 'followersOfNode'] },
    { id: 'cancelWiki', gone: ['questions', 'ideas', 'articles', 'comments', 'followersOfNode'] },
    { id: 'createComment', gone: ['questions', 'ideas', 'articles', 'comments', 'followersOfNode'] },
    { id: 'uploadGdprFile', gone: ['users', 'followersOfNode'] },
  ])('$id: the node and the lists that contain it', async ({ id, gone }) => {
    let status = 0;
    const found = await goneAfter(async () => {
      ({ status } = await send(id));
    });
    expect([status < 300, found]).toEqual([true, gone]);
  });

  it('updateComment: the comment and the lists that contain it', async () => {
    fake.handler = (request) =>
      request.path === '/services/v2/comment/271.json' && request.method === 'GET'
        ? { json: { ...exampleOf('getComment'), wiki: true } }
        : exampleResponse(request);
    expect(await goneAfter(() => send('updateComment'))).toEqual(['questions', 'ideas', 'articles', 'comments']);
  });

  it.each([400, 403, 404, 409])('a write that the upstream refuses with %i purges nothing', async (status) => {
    fake.handler = (request) => (request.method === 'PUT' ? errorText(status, 'no') : exampleResponse(request));
    expect(await goneAfter(() => send('unmarkFavorite'))).toEqual([]);
  });

  it('a write that the gateway refuses purges nothing', async () => {
    expect(await goneAfter(denied)).toEqual([]);
  });

  it('a write whose response was lost purges, because it may have taken effect', async () => {
    fake.handler = (request, response) =>
      request.method === 'PUT' ? void response.socket?.destroy() : exampleResponse(request);
    expect(await goneAfter(() => send('unmarkFavorite'))).toContain('questions');
  });

  describe('on undocumented paths', () => {
    let open: TestGateway;
    beforeAll(async () => {
      const allow = [{ method: '*', path: '/services/v2/**' }];
      open = await startTestGateway({ upstream: fake, clock, config: { undocumented: { allow } } });
    });
    beforeEach(async () => {
      await forget(open);
      fake.handler = (request) => (request.method === 'GET' ? exampleResponse(request) : { json: { ok: true } });
    });
    const write =
      (target: string, method = 'PUT') =>
      () =>
        open.call(target, { method });

    it.each([
      { target: '/services/v2/node/118/markfavorite.json', gone: Object.keys(lists) },
      { target: '/services/v2/question/118/close.json', gone: ['questions', 'followersOfNode'] },
      { target: '/services/v2/answer/204.json', gone: ['questions', 'comments'] },
      { target: '/services/v2/idea/510.json', gone: ['ideas'] },
      { target: '/services/v2/unheard-of.json', gone: Object.keys(lists) },
    ])('$target', async ({ target, gone }) => {
      expect(await goneAfter(write(target), open)).toEqual(gone);
    });

    it('a safe method purges nothing', async () => {
      expect(await goneAfter(write('/services/v2/question/118.json', 'GET'), open)).toEqual([]);
    });

    it('a refused write purges nothing', async () => {
      fake.handler = (request) => (request.method === 'GET' ? exampleResponse(request) : errorText(403, 'no'));
      expect(await goneAfter(write('/services/v2/question/118/close.json'), open)).toEqual([]);
    });
  });

  it('the admin side purges by tag', async () => {
    expect(await goneAfter(purgeIdeas)).toEqual(['ideas']);
  });
});

describe('rules 6: a fill during which a purge happens', () => {
  it('is discarded, and no later request joins it', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async (request) => {
      if (request.path !== QUESTIONS) return exampleResponse(request);
      if (asked() === 1) await release;
      return questionsTitled(asked() === 1 ? 'of before' : 'of after');
    };
    const before = read(QUESTIONS);
    await fake.received(1);
    await gateway.call('/services/v2/node/118/unmarkfavorite.json', { method: 'PUT', user: 'bob' });
    const after = await read(QUESTIONS);
    expect(titleOf(after)).toBe('of after');
    resolve();
    await before;
    expect(titleOf(await read(QUESTIONS))).toBe('of after');
    expect(stateOf(await before)).toBe('portico; fwd=miss; detail=purged');
  });

  it('is not stored even if there was no request since', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async (request) => {
      if (request.path === QUESTIONS) await release;
      return exampleResponse(request);
    };
    const before = read(QUESTIONS);
    await fake.received(1);
    await gateway.call('/services/v2/node/118/unmarkfavorite.json', { method: 'PUT', user: 'bob' });
    resolve();
    await before;
    expect(stateOf(await read(QUESTIONS))).toBe('portico; fwd=miss; stored');
  });
});

describe('rules 6: replies to clients', () => {
  it('include Cache-Control, a strong ETag, Age and Cache-Status', async () => {
    const miss = await read(QUESTIONS);
    clock.advance(3);
    const hit = await read(QUESTIONS);
    expect(miss.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'cache-status': 'portico; fwd=miss; stored',
    });
    expect(miss.headers.etag).toMatch(/^"[\w-]{16,}"$/);
    expect(hit.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'cache-status': 'portico; hit; ttl=27',
      etag: miss.headers.etag,
      age: '3',
    });
  });

  it('are 304 for a matching tag, on a hit and on a miss', async () => {
    const { headers } = await read(QUESTIONS);
    const etag = headers.etag ?? '';
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const got = await read(QUESTIONS, 'alice', { headers: { 'If-None-Match': tag } });
      expect([tag, got.status, got.bytes.length]).toEqual([tag, 304, 0]);
      expect(got.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
      expect(got.headers['content-type']).toBeUndefined();
    }
    await forget(gateway);
    expect((await read(QUESTIONS, 'alice', { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect(fake.requests[0]?.headers['if-none-match']).toBeUndefined();
    expect((await read(QUESTIONS, 'alice', { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it("use GET's page for HEAD, and HEAD stores a page too", async () => {
    const head = await read(QUESTIONS, 'alice', { method: 'HEAD' });
    const get = await read(QUESTIONS);
    expect([head.status, head.bytes.length, asked(), fake.requests[0]?.method]).toEqual([200, 0, 1, 'GET']);
    expect(head.headers['content-length']).toBe(String(get.bytes.length));
    expect(head.headers.etag).toBe(get.headers.etag);
  });

  it.each([
    { 'Cache-Control': 'no-cache' },
    { 'Cache-Control': 'max-age=0' },
    { 'Cache-Control': 'no-store' },
    { Pragma: 'no-cache' },
  ])("ignore the client's cache directive: %j", async (headers) => {
    await read(QUESTIONS);
    expect(stateOf(await read(QUESTIONS, 'alice', { headers }))).toBe('portico; hit; ttl=30');
  });

  it('follow no-cache from a permitted role, and the fetched page is stored', async () => {
    const config = { cache: { noCacheRoles: ['site administration'] } };
    const other = await startTestGateway({ upstream: fake, clock, config });
    fake.handler = numbered;
    const headers = { 'Cache-Control': 'no-cache' };
    await other.call(QUESTIONS, { user: 'admin' });
    const forced = await other.call(QUESTIONS, { user: 'admin', headers });
    expect([titleOf(forced), stateOf(forced)]).toEqual(['page 2', 'portico; fwd=bypass; stored']);
    expect(titleOf(await other.call(QUESTIONS, { user: 'admin' }))).toBe('page 2');
    await other.call(QUESTIONS, { user: 'alice' });
    expect(stateOf(await other.call(QUESTIONS, { user: 'alice', headers }))).toBe('portico; hit; ttl=30');
  });
});

describe('rules 6: concurrent identical requests', () => {
  it('become one upstream request, within one audience only', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async ({ user }) => {
      await release;
      return questionsTitled(`for ${user}`);
    };
    const all = ['alice', 'alice', 'alice', 'bob', 'bob'].map((user) => read(QUESTIONS, user));
    await fake.received(2);
    resolve();
    const replies = await Promise.all(all);
    expect(replies.map(titleOf)).toEqual(['for alice', 'for alice', 'for alice', 'for bob', 'for bob']);
    expect(asked()).toBe(2);
  });

  it('continue when the client that began them leaves', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async () => {
      await release;
      return questionsTitled('for whoever stays');
    };
    const leaving = new AbortController();
    const first = read(QUESTIONS, 'alice', { signal: leaving.signal, headers: { 'X-Request-Id': 'the-one-who-left' } });
    await fake.received(1);
    const second = read(QUESTIONS);
    leaving.abort();
    await expect(first).rejects.toThrow('abort');
    await gateway.lineOf('the-one-who-left');
    resolve();
    expect(titleOf(await second)).toBe('for whoever stays');
    expect(asked()).toBe(1);
    expect(stateOf(await read(QUESTIONS))).toBe('portico; hit; ttl=30');
  });
});

describe('rules 6: under responses enforce', () => {
  it('a refresh that fails validation leads to a stale page within its limit instead of 502', async () => {
    const config = { operations: { listQuestions: { checks: { responses: 'enforce' } } } };
    const strict = await startTestGateway({ upstream: fake, clock, config });
    await strict.call(QUESTIONS);
    fake.handler = () => ({ json: { ...exampleOf('listQuestions'), list: 'none' } });
    clock.advance(200);
    expect(stateOf(await strict.call(QUESTIONS))).toBe('portico; fwd=stale; ttl=-170; detail=stale-if-error');
    clock.advance(200);
    expectError(await strict.call(QUESTIONS), 502, 'upstream_invalid_response');
  });
});

describe('rules 6: modes', () => {
  it('observe mode stores nothing, and enabling the cache is a configuration error', async () => {
    const observing = await startTestGateway({ upstream: fake, real: true });
    for (const _again of [1, 2]) await observing.call(QUESTIONS);
    expect(fake.requests.filter(({ path }) => path === QUESTIONS)).toHaveLength(2);
    const load = () => startTestGateway({ upstream: fake, real: true, config: { cache: { enabled: true } } });
    await expect(load()).rejects.toMatchObject({ faults: [{ pointer: '/cache/enabled' }] });
    expect(loadSettings({ env: { UPSTREAM_URL: fake.url, PORTICO_MODE: 'staging' }, cwd: '/' }).mode.cache).toBe(true);
  });
});
