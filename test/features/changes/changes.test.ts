import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { knowing } from '../../builders/knowing-upstream.ts';
import { TOKENS_ON } from '../../builders/tokens-on.ts';
import { fastHash, fastRoles } from '../../builders/fast-roles.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';
import { runInProcess } from '../../cli/run-in-process.ts';
import { ADMIN_TOKEN, SERVICE, withTokens } from '../tokens/token-gateway.ts';
import { createFakeLists, type FakeLists } from './fake-lists.ts';
import { openStream } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';
const QUESTIONS = '/services/v2/question.json';

interface Setup {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  readonly lists: FakeLists;
  readonly clock: TestClock;
  readonly folder: string;
  /** Advances the clock until each list has been read once more. */
  readEachList(): Promise<void>;
}

/** The readings of all lists, by outcome. */
const readings = async (gateway: TestGateway) => {
  const { text } = await gateway.admin('/metrics');
  const found = [...text.matchAll(/^portico_changes_readings_total\{list="(\w+)",outcome="(\w+)"\} (\d+)$/gm)];
  return found.map(([, list = '', outcome = '', count]) => ({ list, outcome, count: Number(count) }));
};

const running: TestGateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.close())));

async function start(
  changes: object = {},
  {
    folder = tempFolder(),
    lists = createFakeLists(),
    clock = createTestClock(),
    config = {},
    ...more
  }: Partial<TestGatewayOptions> & {
    readonly folder?: string;
    readonly lists?: FakeLists;
    readonly clock?: TestClock;
  } = {},
): Promise<Setup> {
  writeFileSync(join(folder, 'password'), 'admin\n', { mode: 0o600 });
  const upstream = await startFakeUpstream(lists.handler);
  const gateway = await startTestGateway({
    upstream,
    clock,
    ...more,
    config: {
      ...config,
      changes: {
        username: 'admin',
        passwordFile: join(folder, 'password'),
        folder: join(folder, 'changes'),
        requestsPerMinute: 6_000,
        ...changes,
      },
    },
  });
  running.push(gateway);
  const names = (changes as { lists?: string[] }).lists ?? [
    'listQuestions',
    'listIdeas',
    'listArticles',
    'listActions',
  ];
  const total = async () => {
    const all = await readings(gateway);
    return names.map((name) => all.filter(({ list }) => list === name).reduce((sum, { count }) => sum + count, 0));
  };
  const readEachList = async () => {
    const before = await total();
    await eventually(async () => {
      // Requests are spaced by the clock, too.
      clock.advance(5);
      return (await total()).every((count, at) => count > (before[at] ?? 0));
    });
  };
  return { gateway, upstream, lists, clock, folder, readEachList };
}

describe('an event stream', () => {
  it('tells what is created and changed after the first reading', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    lists.add('questions', 10, { title: 'How?' });
    lists.change('questions', 2, { lastActiveDate: 1_700_000_050_000 });
    lists.add('articles', 11);
    await readEachList();
    const messages = await stream.received(3);
    expect(
      new Set(messages.map(({ event, data: { list, target } }) => `${event} ${list} ${target.type} ${target.id}`)),
    ).toEqual(
      new Set([
        'article.created listArticles article 11',
        'question.changed listQuestions question 2',
        'question.created listQuestions question 10',
      ]),
    );
    const created = messages.find(({ event }) => event === 'question.created');
    expect(created?.data.data).toMatchObject({ id: 10, title: 'How?' });
    await readEachList();
    expect(stream.messages).toHaveLength(3);
  });

  it('tells that a question has more answers than before', async () => {
    const lists = createFakeLists();
    lists.change('questions', 1, { answerCount: 2 });
    lists.change('questions', 2, { answerCount: 2 });
    lists.change('questions', 3, { answerCount: undefined });
    const { gateway, readEachList } = await start({}, { lists });
    await readEachList();
    const stream = await openStream(gateway.url, `${EVENTS}?kinds=question`);
    lists.change('questions', 1, { answerCount: 10, lastActiveDate: 1_700_000_050_000 });
    lists.change('questions', 2, { answerCount: 1, lastActiveDate: 1_700_000_051_000 });
    lists.change('questions', 3, { answerCount: 5, lastActiveDate: 1_700_000_052_000 });
    await readEachList();
    const messages = await stream.received(3);
    expect(messages.map(({ event, data }) => `${event} ${data.target.id}`)).toEqual([
      'question.answered 1',
      'question.changed 2',
      // What it was before is not known.
      'question.changed 3',
    ]);
    const events = 'portico_changes_events_total{list="listQuestions",change="answered"}';
    expect(await gateway.metric(events)).toBe(1);
  });

  it('contains no personal and no private fields, and nothing that not every reader of the list may know', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    lists.add('questions', 10, {
      author: { id: 7, username: 'needle-name', reputation: 1 },
      commentIds: [424_242],
      childrenIds: [424_242],
      answers: [{ body: 'needle-answer' }],
      visibility: 'needle-visibility',
      unknownMember: { realname: 'needle-real' },
      slug: 'kept-slug',
    });
    await readEachList();
    await stream.received(1);
    expect(stream.text()).not.toMatch(/needle|424242/);
    expect(stream.messages[0]?.data.data).toMatchObject({ author: { id: 7, reputation: 1 }, slug: 'kept-slug' });
  });

  it('continues after the event that a client saw last, across a restart', async () => {
    const first = await start();
    await first.readEachList();
    const stream = await openStream(first.gateway.url, EVENTS);
    first.lists.add('questions', 10);
    first.lists.add('questions', 11);
    await first.readEachList();
    const [one, two] = await stream.received(2);
    await first.gateway.close();
    await until(stream.isEnded);
    first.lists.add('questions', 12);
    const second = await start({}, first);
    await second.readEachList();
    const again = await openStream(second.gateway.url, EVENTS, { headers: { 'Last-Event-ID': one?.id ?? '' } });
    const messages = await again.received(2);
    expect(messages.map(({ data }) => data.target.id)).toEqual(['11', '12']);
    expect(messages[0]?.id).toBe(two?.id);
    const byQuery = await openStream(second.gateway.url, `${EVENTS}?after=${two?.id}`);
    expect((await byQuery.received(1))[0]?.data.target.id).toBe('12');
  });

  it('continues in the same place after a reload that changes the options of the feed', async () => {
    const setup = await start({ everySeconds: 1 });
    const { gateway, lists, folder, readEachList } = setup;
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    lists.add('questions', 10);
    await readEachList();
    const [one] = await stream.received(1);
    lists.add('questions', 11);
    const changes = {
      username: 'admin',
      passwordFile: join(folder, 'password'),
      folder: join(folder, 'changes'),
      requestsPerMinute: 6_000,
      everySeconds: 2,
    };
    expect(await gateway.reload({ config: { changes } })).toMatchObject({ outcome: 'applied' });
    await until(stream.isEnded);
    lists.add('questions', 12);
    await readEachList();
    await readEachList();
    const again = await openStream(gateway.url, EVENTS, { headers: { 'Last-Event-ID': one?.id ?? '' } });
    expect((await again.received(2)).map(({ data }) => data.target.id)).toEqual(['11', '12']);
    await readEachList();
    expect(again.messages).toHaveLength(2);
  });

  it('can be read by a web page from an origin that may use the API', async () => {
    const Origin = 'https://pages.example';
    const { gateway, readEachList } = await start({}, { config: { cors: { origins: [Origin] } } });
    await readEachList();
    const ask = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };
    const preflight = await gateway.call(EVENTS, { method: 'OPTIONS', user: null, headers: { Origin, ...ask } });
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-methods': 'GET' } });
    expect(preflight.headers['access-control-allow-headers']).toMatch(/authorization/i);
    const stream = await openStream(gateway.url, EVENTS, { headers: { Origin } });
    expect(stream.headers['access-control-allow-origin']).toBe(Origin);
    const other = await openStream(gateway.url, EVENTS, { headers: { Origin: 'https://other.example' } });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('is at the prefix that clients use', async () => {
    const { gateway, readEachList } = await start({}, { config: { publicBasePath: '/qa' } });
    await readEachList();
    expect((await openStream(gateway.url, `/qa${EVENTS}`)).status).toBe(200);
    const feed = await gateway.call('/qa/services/v2/changes/listQuestions.atom');
    expect(feed.text).toContain('href="/qa/services/v2/changes/listQuestions.atom"');
    expect((await gateway.call(EVENTS)).status).toBe(404);
  });

  it('refuses an id before which events have been removed, and says how to continue', async () => {
    const { gateway, lists, readEachList } = await start({ maxEvents: 100 });
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    await until(() => stream.lastId() !== undefined);
    const beginning = stream.lastId() ?? '';
    for (let id = 100; id < 220; id += 1) lists.add('questions', id);
    await readEachList();
    // The client has not read the events that were removed.
    await until(stream.isEnded);
    expect(stream.text()).toContain('{"reason":"history"}');
    const gone = await gateway.call(EVENTS, { headers: { 'Last-Event-ID': beginning } });
    expect(gone).toMatchObject({ status: 410, json: { code: 'history_gone' } });
    expect(gone.text).toMatch(/read the lists, then continue without an id/);
    const other = await gateway.call(EVENTS, { headers: { 'Last-Event-ID': 'deadbeef.1' } });
    expect(other.status).toBe(410);
    const wrong = await gateway.call(EVENTS, { headers: { 'Last-Event-ID': 'yesterday' } });
    expect(wrong).toMatchObject({ status: 400, json: { code: 'invalid_parameter' } });
  });

  it('sends only the kinds that the client wants', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    const stream = await openStream(gateway.url, `${EVENTS}?kinds=idea,question.changed`);
    lists.add('questions', 10);
    lists.add('ideas', 11);
    lists.change('questions', 1, { lastActiveDate: 1_700_000_060_000 });
    await readEachList();
    const kinds = (await stream.received(2)).map(({ event }) => event);
    expect(new Set(kinds)).toEqual(new Set(['idea.created', 'question.changed']));
    for (const target of [`${EVENTS}?kinds=A!`, `${EVENTS}?kinds=violation`, `${EVENTS}?kinds=`, `${EVENTS}?since=1`])
      expect((await gateway.call(target)).status).toBe(400);
  });

  it('says which kinds there are to a client that wants another one', async () => {
    const { gateway } = await start();
    const { status, json } = await gateway.call(`${EVENTS}?kinds=idea,questions`);
    expect([status, json.code]).toEqual([400, 'invalid_parameter']);
    expect(json.details[0]).toMatchObject({ in: 'query', name: 'kinds' });
    expect(json.details[0].message).toMatch(
      /^the kinds are question, question\.created, question\.changed, question\.answered, .*; did you mean question\?$/,
    );
  });

  it('sends a comment and the last id while nothing happens', async () => {
    const { gateway, clock, readEachList } = await start({ heartbeatSeconds: 10 });
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    clock.advance(11);
    await until(() => stream.comments.includes('heartbeat'));
    expect(stream.lastId()).toMatch(/^[0-9a-f]{8}\.0$/);
  });

  it('is limited in number, in all and for each caller', async () => {
    const { gateway, readEachList } = await start({ maxSubscribers: 3, maxSubscribersPerCaller: 2 });
    await readEachList();
    const streams = [await openStream(gateway.url, EVENTS), await openStream(gateway.url, EVENTS)];
    expect(await gateway.call(EVENTS)).toMatchObject({ status: 429, json: { code: 'too_many_streams' } });
    const other = await openStream(gateway.url, EVENTS, { user: 'alice' });
    expect(other.status).toBe(200);
    expect((await gateway.call(EVENTS, { user: 'moderator' })).status).toBe(429);
    streams[0]?.close();
    await eventually(async () => (await gateway.metric('portico_changes_subscribers')) === 2);
    expect((await openStream(gateway.url, EVENTS)).status).toBe(200);
  });

  it('disconnects a client that does not read, without keeping more than one batch for it', async () => {
    const { gateway, lists, clock, readEachList } = await start({ slowSeconds: 5, everySeconds: 1 });
    await readEachList();
    const slow = await openStream(gateway.url, EVENTS);
    slow.pause();
    const body = 'x'.repeat(20_000);
    let id = 1_000;
    await eventually(async () => {
      for (let count = 0; count < 20; count += 1) lists.add('questions', (id += 1), { body, bodyAsHTML: body });
      clock.advance(2);
      await readEachList();
      return (await gateway.metric('portico_changes_disconnects_total{reason="slow"}')) === 1;
    });
    expect(await gateway.metric('portico_changes_subscribers')).toBe(0);
  });

  it('ends when the gateway closes', async () => {
    const { gateway, readEachList } = await start();
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    await gateway.close();
    await until(stream.isEnded);
    expect(stream.text()).toContain('{"reason":"closing"}');
  });
});

describe('the audience', () => {
  it('of an event is who may use the list', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    // Only some accounts may see ideas.
    const alice = await openStream(gateway.url, EVENTS, { user: 'alice' });
    const guest = await openStream(gateway.url, EVENTS, { user: 'guest' });
    const mayAlice = (await gateway.call('/services/v2/idea.json', { user: 'alice' })).status === 200;
    const mayGuest = (await gateway.call('/services/v2/idea.json', { user: 'guest' })).status === 200;
    expect([mayAlice, mayGuest]).toContain(false);
    lists.add('ideas', 20);
    lists.add('questions', 21);
    await readEachList();
    await alice.received(mayAlice ? 2 : 1);
    await guest.received(mayGuest ? 2 : 1);
    await readEachList();
    for (const [stream, may] of [
      [alice, mayAlice],
      [guest, mayGuest],
    ] as const)
      expect(stream.messages.map(({ event }) => event).includes('idea.created')).toBe(may);
  });

  it('of actions is who may read the action log, and private actions are told to nobody', async () => {
    const { gateway, lists, readEachList } = await start({ lists: ['listQuestions', 'listActions'] });
    await readEachList();
    const admin = await openStream(gateway.url, EVENTS);
    const alice = await openStream(gateway.url, EVENTS, { user: 'alice' });
    lists.add('actions', 50, { private: true, node: { id: 666, type: 'answer' } });
    lists.add('actions', 51, { private: undefined, node: { id: 667, type: 'answer' } });
    lists.add('actions', 52, { private: false, node: { id: 668, type: 'answer' }, ip: '192.0.2.77' });
    lists.add('questions', 53);
    await readEachList();
    const messages = await admin.received(2);
    await alice.received(1);
    expect(messages.map(({ data }) => data.target).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { type: 'question', id: '53' },
      { type: 'answer', id: '668' },
    ]);
    expect(admin.text()).not.toMatch(/66[67]|192\.0\.2\.77/);
    expect(alice.messages.map(({ event }) => event)).toEqual(['question.created']);
  });

  it('excludes callers whose permissions only the upstream knows, unless the roles file has a role for them', async () => {
    const lists = createFakeLists();
    const real = { real: true, lists, folder: tempFolder() } as const;
    const config = (unmapped: string) => ({ mode: 'strict', readableSecrets: 'allow', roles: { unmapped } });
    const known = knowing(lists.handler);
    const delegating = await start({}, { ...real, lists: { ...lists, handler: known }, config: config('delegate') });
    await delegating.readEachList();
    const refused = await delegating.gateway.call(EVENTS, { user: 'carol' });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('roles.unmapped');
    expect(delegating.gateway.log.join('')).toContain('no events for callers who are not in the roles file');
    await delegating.gateway.close();
    const mapping = await start({}, { ...real, lists: { ...lists, handler: known }, config: config('standard') });
    await mapping.readEachList();
    const carol = await openStream(mapping.gateway.url, EVENTS, { user: 'carol' });
    expect(carol.status).toBe(200);
    lists.add('questions', 40);
    lists.add('actions', 41, { private: false });
    await mapping.readEachList();
    await mapping.readEachList();
    expect((await carol.received(1)).map(({ data }) => data.target.id)).toEqual(['40']);
    expect(mapping.gateway.log.join('')).not.toContain('no events for callers who are not in the roles file');
  });

  it('excludes a token from the moment at which it is revoked, even if nothing happens', async () => {
    const setup = await start(
      { recheckSeconds: 30 },
      {
        env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
        config: { upstream: { credentials: SERVICE }, tokens: TOKENS_ON, readableSecrets: 'allow' },
      },
    );
    const { gateway, clock, readEachList } = setup;
    await readEachList();
    const tokens = withTokens(gateway, { ...setup, file: ':memory:' });
    const { token, id } = await tokens.create({ scope: ['View the questions list'] });
    const headers = { Authorization: `Bearer ${token}` };
    const stream = await openStream(gateway.url, EVENTS, { user: null, headers });
    expect(stream.status).toBe(200);
    expect((await tokens.change('/revoke', { id })).status).toBe(200);
    clock.advance(31);
    await until(stream.isEnded);
    expect(stream.text()).toContain('{"reason":"revoked"}');
    expect((await openStream(gateway.url, EVENTS, { user: null, headers })).status).toBe(401);
  });

  it('of a token is what it was created for', async () => {
    const setup = await start(
      {},
      {
        env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
        config: { upstream: { credentials: SERVICE }, tokens: TOKENS_ON, readableSecrets: 'allow' },
      },
    );
    const { gateway, lists, readEachList } = setup;
    await readEachList();
    const tokens = withTokens(gateway, { ...setup, file: ':memory:' });
    const open = async (more: object, target = EVENTS) => {
      const { token } = await tokens.create({ scope: ['View the questions list', 'View list idea'], ...more });
      return openStream(gateway.url, target, { user: null, headers: { Authorization: `Bearer ${token}` } });
    };
    expect((await open({ networks: ['192.0.2.0/24'] })).status).toBe(403);
    expect((await open({ operations: ['listNodeComments'] })).status).toBe(403);
    const atom = '/services/v2/changes/listQuestions.atom';
    expect((await open({ operations: ['listIdeas'] }, atom)).status).toBe(403);
    const [ideas, both] = [await open({ operations: ['listIdeas'] }), await open({ networks: ['127.0.0.0/8'] })];
    expect([ideas.status, both.status]).toEqual([200, 200]);
    lists.add('questions', 30);
    lists.add('ideas', 31);
    await readEachList();
    expect(new Set((await both.received(2)).map(({ event }) => event))).toEqual(
      new Set(['question.created', 'idea.created']),
    );
    expect((await ideas.received(1)).map(({ event }) => event)).toEqual(['idea.created']);
    const used = (await tokens.list()).filter(({ lastUsed }) => lastUsed !== undefined && lastUsed !== null);
    expect(used).toHaveLength(2);
  });

  it('needs a credential', async () => {
    const { gateway, readEachList } = await start();
    await readEachList();
    for (const target of [EVENTS, '/services/v2/changes/listQuestions.atom', '/services/v2/changes/nothing']) {
      expect((await gateway.call(target, { user: null })).status).toBe(401);
      expect((await gateway.call(target, { user: 'alice', password: 'wrong' })).status).toBe(401);
    }
    expect((await gateway.call('/services/v2/changes/nothing')).status).toBe(404);
    expect((await gateway.call(EVENTS, { method: 'POST' })).status).toBe(405);
  });

  it('excludes callers from the moment at which their permissions end', async () => {
    const passwordHash = await fastHash('alice');
    const roles = (...permissions: string[]) =>
      stringify({
        roles: { anonymous: { permissions: [] }, reader: { permissions } },
        accounts: [{ name: 'alice', demo: true, roles: ['reader'], passwordHash }],
      });
    const { gateway, lists, readEachList } = await start({}, { roles: roles('View the questions list') });
    await readEachList();
    const alice = await openStream(gateway.url, EVENTS, { user: 'alice' });
    lists.add('questions', 30);
    await readEachList();
    await alice.received(1);
    expect(await gateway.reload({ roles: roles() })).toMatchObject({ outcome: 'applied' });
    lists.add('questions', 31, { title: 'needle' });
    await readEachList();
    await readEachList();
    expect(alice.text()).not.toContain('needle');
    expect((await gateway.call(EVENTS, { user: 'alice' })).status).toBe(403);
  });

  it('cuts off callers whose account is removed, even if nothing happens', async () => {
    const all = await fastRoles();
    const { gateway, clock, readEachList } = await start(
      { recheckSeconds: 30 },
      { roles: all, config: { authentication: { cacheSeconds: 1 } } },
    );
    await readEachList();
    const alice = await openStream(gateway.url, EVENTS, { user: 'alice' });
    const file = parse(all) as { accounts: { name: string }[] };
    await gateway.reload({
      roles: stringify({ ...file, accounts: file.accounts.filter(({ name }) => name !== 'alice') }),
    });
    clock.advance(31);
    await until(alice.isEnded);
    expect(alice.text()).toContain('{"reason":"revoked"}');
  });
});

describe('an Atom feed', () => {
  it('has the latest changes of a list, for those who may read the list', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    lists.add('questions', 40, { title: 'Is 1 < 2 & "so"?\u0001' });
    await readEachList();
    const feed = await gateway.call('/services/v2/changes/listQuestions.atom');
    expect(feed).toMatchObject({ status: 200, headers: { 'content-type': 'application/atom+xml; charset=utf-8' } });
    expect(feed.text).toContain('<title>Is 1 &lt; 2 &amp; &quot;so&quot;? (question.created question 40)</title>');
    expect(feed.headers['cache-control']).toBe('private, no-store');
    const entriesOf = (text: string) => text.match(/<entry>[^]*?<\/entry>/g);
    const [entry] = entriesOf(feed.text) ?? [];
    lists.add('questions', 41);
    await readEachList();
    const later = await gateway.call('/services/v2/changes/listQuestions.atom');
    // Readers recognize entries by their ids, so an entry never changes.
    expect(entriesOf(later.text)).toEqual([expect.stringContaining('question 41'), entry]);
    const statuses = await Promise.all(
      ['alice', 'guest'].map(async (user) => [
        (await gateway.call('/services/v2/changes/listIdeas.atom', { user })).status,
        (await gateway.call('/services/v2/idea.json', { user })).status,
      ]),
    );
    for (const [ofFeed, ofList] of statuses) expect(ofFeed).toBe(ofList);
  });
});

describe('the lists that are read', () => {
  const statusOf = async (gateway: TestGateway, list: string, outcome: string) =>
    (await readings(gateway)).find((one) => one.list === list && one.outcome === outcome)?.count;

  it('are by default all for which the contract says how', async () => {
    const { gateway, lists, readEachList } = await start();
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    lists.add('actions', 60, { private: false, node: { id: 61, type: 'answer' } });
    await readEachList();
    expect((await stream.received(1))[0]?.data).toMatchObject({
      list: 'listActions',
      target: { type: 'answer', id: '61' },
    });
  });

  it('need not include the action log, which an ordinary account may not read', async () => {
    const lists = createFakeLists();
    const handler: FakeLists['handler'] = (request, response) =>
      request.path.endsWith('/action.json') ? { status: 403, json: { error: 'no' } } : lists.handler(request, response);
    const { gateway, clock, readEachList } = await start({}, { lists: { ...lists, handler } });
    await readEachList();
    expect(await statusOf(gateway, 'listActions', 'refused')).toBeGreaterThan(0);
    clock.advance(1_000);
    const { text } = await gateway.admin('/metrics');
    expect(text).toContain('portico_changes_lag_seconds{list="listQuestions"}');
    expect(text).not.toContain('portico_changes_lag_seconds{list="listActions"}');
    const about = gateway.log.filter((line) => line.includes('"list":"listActions"'));
    expect(about.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['info']);
  });

  it('are late if the account may not read one that is named', async () => {
    const lists = createFakeLists();
    const handler: FakeLists['handler'] = () => ({ status: 403, json: { error: 'no' } });
    const { gateway, readEachList } = await start({ lists: ['listActions'] }, { lists: { ...lists, handler } });
    await readEachList();
    expect((await gateway.admin('/metrics')).text).toContain('portico_changes_lag_seconds{list="listActions"}');
    expect(gateway.log.join('')).toContain('the change feed has trouble with a list');
  });
});

describe('reading lists', () => {
  it('keeps to the budget of requests, whatever the number of subscribers', async () => {
    const { gateway, upstream, lists, clock, readEachList } = await start({ requestsPerMinute: 4, everySeconds: 1 });
    await readEachList();
    for (let count = 0; count < 10; count += 1) await openStream(gateway.url, EVENTS);
    const from = upstream.requests.length;
    const startedAt = clock();
    let id = 100;
    while (clock() - startedAt < 60_000) {
      lists.add('questions', (id += 1));
      clock.advance(0.25);
      // Each response gives the feed time to send more requests than it may.
      for (let turn = 0; turn < 8; turn += 1) await gateway.admin('/livez');
    }
    const minutes = (clock() - startedAt) / 60_000;
    const sent = upstream.requests.length - from;
    expect(sent).toBeGreaterThan(1);
    expect(sent).toBeLessThanOrEqual(Math.ceil(minutes * 4) + 1);
  });

  it('of many pages does not delay the others', async () => {
    const lists = createFakeLists();
    for (let id = 100; id < 3_100; id += 1) lists.add('articles', id);
    const { gateway, upstream, clock } = await start({ requestsPerMinute: 60, pageSize: 10 }, { lists });
    const pages = (path: string) => upstream.requests.filter((one) => one.path === path).length;
    await eventually(() => {
      clock.advance(1);
      return pages('/services/v2/article.json') >= 40;
    });
    expect(await gateway.metric('portico_changes_lag_seconds{list="listArticles"}')).toBeGreaterThan(40);
    expect(await gateway.metric('portico_changes_lag_seconds{list="listQuestions"}')).toBeLessThan(40);
    expect(pages(QUESTIONS)).toBeGreaterThan(2);
  });

  it('tells nothing of a page that violates the contract, and says so in a metric', async () => {
    const { gateway, upstream, lists, readEachList } = await start({ lists: ['listQuestions'] });
    await readEachList();
    const stream = await openStream(gateway.url, EVENTS);
    lists.add('questions', 50);
    upstream.handler = (request, response) => {
      const usual = lists.handler(request, response) as { json: { list: object[] } };
      return { json: { ...usual.json, totalCount: 'many' } };
    };
    await readEachList();
    expect(stream.messages).toEqual([]);
    const invalid = 'portico_changes_readings_total{list="listQuestions",outcome="invalid"}';
    expect(await gateway.metric(invalid)).toBeGreaterThan(0);
    upstream.handler = lists.handler;
    await readEachList();
    expect((await stream.received(1))[0]?.data.target.id).toBe('50');
  });

  it('pauses as long as the upstream asks for', async () => {
    const { gateway, upstream, lists, clock, readEachList } = await start({ lists: ['listQuestions', 'listIdeas'] });
    await readEachList();
    upstream.handler = () => ({ status: 429, headers: { 'Retry-After': '300' }, json: { error: 'slow down' } });
    const failed = async () =>
      (await readings(gateway))
        .filter(({ outcome }) => outcome === 'failed')
        .reduce((sum, { count }) => sum + count, 0);
    const from = upstream.requests.length;
    await eventually(async () => {
      clock.advance(5);
      const count = await failed();
      // The request for another list may have been on its way.
      return count > 0 && count === upstream.requests.length - from;
    });
    const sent = upstream.requests.length;
    upstream.handler = lists.handler;
    for (let step = 0; step < 40; step += 1) {
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await gateway.admin('/metrics');
    expect(upstream.requests.length).toBe(sent);
    await readEachList();
    expect(upstream.requests.length).toBeGreaterThan(sent);
  });

  it('states how long ago each list was read, and the requests', async () => {
    const { gateway, upstream, clock, readEachList } = await start({ lists: ['listQuestions'] });
    await readEachList();
    upstream.handler = () => ({ status: 500, json: {} });
    clock.advance(100);
    expect(await gateway.metric('portico_changes_lag_seconds{list="listQuestions"}')).toBeGreaterThanOrEqual(100);
    const counted = await gateway.metric('portico_changes_upstream_requests_total');
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(upstream.requests.length);
  });

  it('uses the account of the feed', async () => {
    const { upstream, readEachList } = await start();
    await readEachList();
    expect(upstream.requests.filter(({ path }) => path === QUESTIONS).every(({ user }) => user === 'admin')).toBe(true);
  });
});

describe('in observe mode', () => {
  it('the path of the feed is that of the upstream', async () => {
    const { gateway, upstream } = await start({}, { config: { mode: 'observe' } });
    upstream.handler = ({ path }) => ({ json: { path } });
    expect((await gateway.call(EVENTS)).json).toEqual({ path: EVENTS });
  });
});

describe('the configuration', () => {
  it('needs an account, unless no list is read, and reports all errors together', async () => {
    const changes = {
      lists: ['listQuestions', 'listTopicFollowers', 'nothing'],
      webhooks: [{ name: 'one' }, { name: 'one', url: 'ftp://x' }],
      allowPrivate: ['10.0.0.0/99'],
    };
    const started = start({ username: undefined, passwordFile: undefined, ...changes });
    const message = await started.then(
      () => '',
      (error: Error) => error.message,
    );
    for (const part of [
      '/changes/username: is required',
      '/changes/passwordFile: is required',
      '/changes/webhooks/1/name: is the name of an earlier webhook',
      '/changes/allowPrivate/0: is not an address or a network',
    ])
      expect(message).toContain(part);
  });

  it('refuses addresses of webhooks that are none, or that would show a secret', async () => {
    const chat = { format: 'slack' };
    const webhooks = [
      { ...chat, name: 'one', url: 'https://user:needle@hooks.example/' },
      { ...chat, name: 'two', url: 'ftp://hooks.example/needle' },
      { ...chat, name: 'three', url: 'http://hooks.example/needle' },
      { ...chat, name: 'four', url: 'needle' },
      { ...chat, name: 'five' },
      { name: 'six', url: 'https://hooks.example/needle' },
    ];
    const message = await start({ lists: [], webhooks }).then(
      () => '',
      (error: Error) => error.message,
    );
    for (const part of [
      '/changes/webhooks/0/url: must not contain a name or a password',
      '/changes/webhooks/1/url: must start with https:// or http://',
      '/changes/webhooks/2/url: must use https',
      '/changes/webhooks/3/url: is not an address',
      '/changes/webhooks/4/url: is missing',
      '/changes/webhooks/5: needs a signing key',
    ])
      expect(message).toContain(part);
    expect(message).not.toContain('needle');
  });

  it('names kinds of events that there are not', async () => {
    const webhooks = [
      { name: 'one', url: 'https://hooks.example/', kinds: ['violation.new', 'questions', 'book.sold'] },
    ];
    const message = await start({ webhooks }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toContain('/changes/webhooks/0/kinds/1: is not a kind of event');
    expect(message).toContain('/changes/webhooks/0/kinds/2: is not a kind of event');
    expect(message).not.toContain('kinds/0');
  });

  it.each([
    [{ kinds: ['question'] }, true],
    [{ kinds: ['violation', 'level.lowered'] }, false],
    [{ kinds: [] }, false],
    [{ kinds: ['question'], account: 'alice' }, false],
  ])('warns about a webhook whose kinds need an account: %j', async (webhook, isWarned) => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'one.url'), 'https://hooks.example/\n', { mode: 0o600 });
    const config = {
      roles: { file: join(import.meta.dirname, '..', '..', '..', 'config', 'roles.yaml') },
      changes: { lists: [], secrets: folder, webhooks: [{ name: 'one', format: 'slack', ...webhook }] },
    };
    writeFileSync(join(folder, 'portico.yaml'), stringify(config));
    const { code, err } = await runInProcess(['check', '--config', join(folder, 'portico.yaml')]);
    expect([code, err.includes('a webhook without an account receives none')]).toEqual([0, isWarned]);
  });

  it('names lists that cannot be followed', async () => {
    const message = await start({ lists: ['listTopicFollowers', 'listQuestion'] }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toContain('/changes/lists/0: listTopicFollowers has no x-changes');
    expect(message).toContain('/changes/lists/1: listQuestion is not an operation in the contract');
  });
});
