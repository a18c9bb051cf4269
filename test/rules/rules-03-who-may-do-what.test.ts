import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles, type RolesAccount } from '../builders/fast-roles.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const COMMENT = '/services/v2/comment/271.json';
const ANSWER_COMMENTS = '/services/v2/answer/204/comment.json';
const CANCEL_WIKI = '/services/v2/node/118/cancelwiki.json';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

/** Calls the operation with this id. */
function use(gateway: TestGateway, id: string, user: string) {
  const { method, body } = operationOf(id);
  const headers = { 'Portico-Force': 'true' };
  return gateway.call(targetOf(operationOf(id)), { method, user, headers, ...(body !== undefined && { body }) });
}

const role = (name: string, permissions: string[]) => ({ [name]: { permissions } });

const start = (unmapped: string | undefined) => {
  fake.handler = knowing();
  const config = { mode: 'strict', ...(unmapped !== undefined && { roles: { unmapped } }) };
  return startTestGateway({ upstream: fake, real: true, config });
};

const mismatches = async (gateway: TestGateway) =>
  (await gateway.gateway.services.records.snapshot()).entries
    .filter(({ category }) => category === 'permission-mismatch')
    .map(({ operation, keyword }) => [operation, keyword]);

const commentIs = (comment: object | undefined) => {
  fake.handler = (request) =>
    request.method !== 'GET' ? exampleResponse(request) : comment === undefined ? { status: 404 } : { json: comment };
};

const json =
  (body: string): FakeHandler =>
  () => ({ body, headers: { 'Content-Type': 'application/json' } });

describe('rules 3: predicates', () => {
  const accounts: RolesAccount[] = [
    { name: 'asker', roles: ['page'] },
    { name: 'answerer', roles: ['answers'] },
    { name: 'reader', roles: ['page', 'answers'] },
    { name: 'flagadmin', roles: [], flags: ['admin'] },
    { name: 'flagsuper', roles: [], flags: ['superuser'] },
    { name: 'analyst', roles: ['analytics'] },
    { name: 'grouped', roles: [], groups: ['Super Users'] },
    { name: 'both', roles: ['analytics'], groups: ['Super Users'] },
    { name: 'marker', roles: ['marker'] },
    { name: 'markreader', roles: ['marker', 'page'] },
    { name: 'attacher', roles: ['attacher'] },
  ];
  let gateway: TestGateway;
  let withoutTracker: TestGateway;
  beforeAll(async () => {
    const own = {
      ...role('page', ['View the question page']),
      ...role('answers', ['View answers in the question page']),
      ...role('analytics', ['View analytics']),
      ...role('marker', ['Mark as favorite']),
      ...role('attacher', ['Add attachments to issues']),
    };
    const roles = await fastRoles(accounts, { roles: own });
    gateway = await startTestGateway({ upstream: fake, roles });
    withoutTracker = await startTestGateway({ upstream: fake, roles, config: { issueTracker: { enabled: false } } });
  });

  it.each([
    { id: 'getComment', allowed: ['reader', 'flagsuper'], denied: ['asker', 'answerer', 'flagadmin'] },
    { id: 'listNodeComments', allowed: ['reader', 'flagsuper'], denied: ['asker', 'answerer', 'flagadmin'] },
    { id: 'listAnswerComments', allowed: ['reader', 'flagsuper'], denied: ['asker', 'answerer'] },
    { id: 'uploadGdprFile', allowed: ['flagadmin', 'flagsuper'], denied: ['both', 'reader'] },
    { id: 'listActions', allowed: ['both'], denied: ['analyst', 'grouped', 'flagsuper', 'flagadmin'] },
    { id: 'unmarkFavorite', allowed: ['markreader'], denied: ['marker', 'asker'] },
    { id: 'copyAttachments', allowed: ['attacher', 'flagsuper'], denied: ['reader', 'flagadmin'] },
    { id: 'getGdprJob', allowed: accounts.map(({ name }) => name), denied: [] },
  ])('$id: $allowed, not $denied', async ({ id, allowed, denied }) => {
    for (const user of allowed)
      expect([user, (await use(gateway, id, user)).status]).toEqual([user, operationOf(id).success]);
    fake.requests.length = 0;
    for (const user of denied) expectError(await use(gateway, id, user), 403, 'permission_denied');
    expect(fake.requests).toHaveLength(0);
  });

  it('names what is missing: a permission or a group', async () => {
    const missing: unknown[] = [];
    const asked = [
      ['getComment', 'asker'],
      ['getComment', 'answerer'],
      ['listActions', 'grouped'],
    ] as const;
    for (const [id, user] of asked) missing.push((await use(gateway, id, user)).json.details[0].permission);
    expect(missing).toEqual(['View answers in the question page', 'View the question page', 'View analytics']);
    expect((await use(gateway, 'listActions', 'analyst')).json.details[0]).toMatchObject({ group: 'Super Users' });
  });

  it('operation 3 needs issueTracker.enabled for every caller', async () => {
    for (const user of ['attacher', 'flagsuper']) {
      const got = await use(withoutTracker, 'copyAttachments', user);
      expectError(got, 403, 'permission_denied');
      expect(got.json.error).toBe(operationOf('copyAttachments').text403);
    }
  });
});

describe('rules 3: a caller without a mapping', () => {
  it('is left to the upstream by default with the verifier `upstream`, and its credential is forwarded', async () => {
    const gateway = await start(undefined);
    for (const operation of OPERATIONS.filter(({ inferred }) => inferred !== true)) {
      fake.requests.length = 0;
      expect([operation.id, (await use(gateway, operation.id, 'stranger')).status]).toEqual([
        operation.id,
        operation.success,
      ]);
      expect(fake.requests.filter(({ path }) => path !== PROBE).map(({ user }) => user)).toEqual(['stranger']);
    }
    fake.handler = knowing(({ user }) => ({ json: { ...exampleOf('listIdeas'), name: user } }));
    const names = [];
    for (const user of ['one', 'two', 'one'])
      names.push((await gateway.call('/services/v2/idea.json?q=x', { user })).json.name);
    expect(names).toEqual(['one', 'two', 'one']);
  });

  it('may do nothing if `unmapped` is `deny`', async () => {
    expectError(await use(await start('deny'), 'listQuestions', 'stranger'), 403, 'permission_denied');
  });

  it('has the configured role', async () => {
    const gateway = await start('anonymous');
    expect((await use(gateway, 'listQuestions', 'stranger')).status).toBe(200);
    expectError(await use(gateway, 'listIdeas', 'stranger'), 403, 'permission_denied');
  });
});

describe('rules 3: permission-mismatch in the ledger', () => {
  it('is counted if the roles file allows a caller and the upstream denies it', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    const headers = { 'X-Request-Id': 'denied-there' };
    fake.handler = () => errorText(403, 'You do not have permission');
    await gateway.call('/services/v2/idea.json', { user: 'bob', headers });
    await gateway.lineOf('denied-there');
    expect(await mismatches(gateway)).toEqual([['listIdeas', 'upstream-denied']]);
  });

  it('is counted at the `report` level if the roles file denies a caller and the upstream allows it', async () => {
    const gateway = await startTestGateway({ upstream: fake, config: { checks: { permissions: 'report' } } });
    expect((await gateway.call('/services/v2/idea.json', { user: 'guest' })).status).toBe(200);
    fake.handler = () => errorText(403, 'You do not have permission');
    const headers = { 'X-Request-Id': 'same-verdict' };
    await gateway.call('/services/v2/article.json', { user: 'guest', headers });
    await gateway.lineOf('same-verdict');
    expect(await mismatches(gateway)).toEqual([['listIdeas', 'upstream-allowed']]);
  });

  it('is not counted if both agree or the upstream fails', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    await gateway.call('/services/v2/idea.json', { user: 'bob' });
    fake.handler = () => ({ status: 500 });
    const headers = { 'X-Request-Id': 'failed-there' };
    await gateway.call('/services/v2/article.json', { user: 'bob', headers });
    await gateway.lineOf('failed-there');
    expect(await mismatches(gateway)).toEqual([]);
  });
});

describe('rules 3: unwikify', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ upstream: fake });
  });
  let shown = 0;
  /** Makes the gateway learn the author of node 118 from a valid response. */
  async function show(author: string): Promise<void> {
    const page = exampleOf('listQuestions');
    page.list[0].author['username'] = author;
    fake.handler = () => ({ json: page });
    expect((await gateway.call(`/services/v2/question.json?q=${author}${++shown}`)).headers['contract-status']).toBe(
      'conforming',
    );
    fake.handler = exampleResponse;
    fake.requests.length = 0;
  }

  it("is left to the upstream for an unknown owner, with the caller's credential", async () => {
    expect((await use(gateway, 'cancelWiki', 'alice')).status).toBe(200);
    expect(fake.requests.map(({ path, user }) => [path, user])).toEqual([[CANCEL_WIKI, 'alice']]);
    fake.handler = () => errorText(401, "You don't have permission");
    expectError(await use(gateway, 'cancelWiki', 'alice'), 403, 'upstream_permission_denied');
  });

  it('explain prints undecided: ownership', async () => {
    const steps = await gateway.gateway.explain({
      method: 'PUT',
      target: '/services/v2/node/999/cancelwiki.json',
      as: 'alice',
    });
    expect(steps).toContainEqual({ name: 'permission', text: 'undecided: ownership' });
  });

  it('is allowed for the author of the node, as learned from valid responses', async () => {
    await show('alice');
    expect((await use(gateway, 'cancelWiki', 'alice')).status).toBe(200);
  });

  it("is denied for another user's node", async () => {
    await show('alice');
    expectError(await use(gateway, 'cancelWiki', 'bob'), 403, 'permission_denied');
    expect(fake.requests).toHaveLength(0);
  });

  it('is allowed for any node with Mark as community wiki', async () => {
    await show('alice');
    expect((await use(gateway, 'cancelWiki', 'moderator')).status).toBe(200);
  });

  it('needs Convert own posts even for an own node', async () => {
    await show('guest');
    expectError(await use(gateway, 'cancelWiki', 'guest'), 403, 'permission_denied');
  });

  it('learns no author from a response that breaks the contract', async () => {
    const other = await startTestGateway({ upstream: fake });
    const page = exampleOf('listQuestions');
    page.list[0].author['username'] = 'alice';
    fake.handler = () => ({ json: { ...page, listCount: 7 } });
    await other.call('/services/v2/question.json');
    fake.handler = exampleResponse;
    expect((await use(other, 'cancelWiki', 'bob')).status).toBe(200);
  });

  it("sends the configured lookup once, with the caller's credential", async () => {
    const lookup = '/services/v2/node/{nodeId}.json';
    const other = await startTestGateway({ upstream: fake, config: { permissions: { ownership: { lookup } } } });
    fake.handler = (request) =>
      request.path === '/services/v2/node/118.json'
        ? { json: { author: { username: 'alice' } } }
        : exampleResponse(request);
    expectError(await use(other, 'cancelWiki', 'bob'), 403, 'permission_denied');
    expect((await use(other, 'cancelWiki', 'alice')).status).toBe(200);
    expect(fake.requests.map(({ method, path, user }) => [method, path, user])).toEqual([
      ['GET', '/services/v2/node/118.json', 'bob'],
      ['PUT', CANCEL_WIKI, 'alice'],
    ]);
  });
});

describe('rules 3: only the author edits a comment that is not a community wiki', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ upstream: fake });
  });

  it.each([
    { name: 'the author', comment: { author: { username: 'bob' }, wiki: false }, status: 200 },
    { name: 'another user', comment: { author: { username: 'alice' }, wiki: false }, status: 403 },
    { name: 'another user, for a community wiki', comment: { author: { username: 'alice' }, wiki: true }, status: 200 },
    { name: 'an unknown author, left to the upstream', comment: undefined, status: 200 },
  ])('$name: $status', async ({ comment, status }) => {
    commentIs(comment);
    expect((await use(gateway, 'updateComment', 'bob')).status).toBe(status);
    expect(fake.requests.filter(({ method }) => method === 'PUT')).toHaveLength(status === 200 ? 1 : 0);
    expect(fake.requests.every(({ user }) => user === 'bob')).toBe(true);
  });
});

describe('rules 3: visibility and recipients of comments', () => {
  const RECIPIENTS = '[ { "id" : 9007199254740993 ,"name":"St\\u0061ff \\"}]\\"","type":"group"} ]';
  const prefix =
    '{ "id":9223372036854775807,\n "type":"comment","body":"caf\\u00e9 \\"visibility\\": 1e400","score":-0.10e+2';
  const secret = `, "visibility":"recipients",\t"recipients":${RECIPIENTS}`;
  const tail = ',"wiki":false }';
  const whole = prefix + secret + tail;
  const bare = prefix + tail;
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ upstream: fake });
  });

  it('are removed without the permissions, without changing any other byte', async () => {
    fake.handler = json(whole);
    const got = await gateway.call(COMMENT, { user: 'bob', headers: { 'X-Request-Id': 'redacted-one' } });
    expect([got.status, got.text]).toEqual([200, bare]);
    expect(got.headers).toMatchObject({
      'portico-redacted': 'visibility, recipients',
      'content-length': String(Buffer.byteLength(bare)),
    });
    expect(await gateway.lineOf('redacted-one')).toMatchObject({ redacted: 2 });
  });

  it('remain for callers with Use Private Comments and a send permission', async () => {
    fake.handler = json(whole);
    const got = await gateway.call(COMMENT, { user: 'alice' });
    expect([got.text, got.headers['portico-redacted']]).toEqual([whole, undefined]);
  });

  it('need Use Private Comments and one of the three permissions; neither is enough alone', async () => {
    const roles = {
      use: { permissions: ['Use Private Comments'], inherits: ['anonymous'] },
      poster: { permissions: ['Send private comments to the original poster'], inherits: ['anonymous'] },
      mods: { permissions: ['Send private comments to moderators'], inherits: ['anonymous'] },
      groups: { permissions: ['Send private comments to own groups'], inherits: ['anonymous'] },
    };
    const accounts = [
      { name: 'justuse', roles: ['use'], reads: false },
      { name: 'justsend', roles: ['poster', 'mods', 'groups'], reads: false },
      { name: 'useposter', roles: ['use', 'poster'], reads: true },
      { name: 'usemods', roles: ['use', 'mods'], reads: true },
      { name: 'usegroups', roles: ['use', 'groups'], reads: true },
    ];
    const text = await fastRoles(
      accounts.map(({ name, roles: held }) => ({ name, roles: held })),
      { roles },
    );
    const other = await startTestGateway({ upstream: fake, roles: text });
    fake.handler = json(whole);
    for (const { name, reads } of accounts) {
      const got = await other.call(COMMENT, { user: name });
      expect([name, got.text]).toEqual([name, reads ? whole : bare]);
    }
  });

  it.each(['getComment', 'listNodeComments', 'listAnswerComments', 'createComment', 'updateComment'])(
    'are removed from %s',
    async (id) => {
      const comment = {
        ...exampleOf('getComment'),
        visibility: 'recipients',
        recipients: [{ id: 7, name: 'Staff', type: 'group' }],
      };
      const page = { ...exampleOf('listAnswerComments'), list: [comment], listCount: 1 };
      const bodies: Record<string, unknown> = { listNodeComments: [comment], listAnswerComments: page };
      fake.handler = () => ({ json: bodies[id] ?? { ...comment, author: { username: 'bob' } } });
      const got = await use(gateway, id, 'bob');
      expect(got.status).toBe(200);
      expect(got.text).not.toMatch(/"visibility"|"recipients"/);
      expect(got.headers['portico-redacted']).toBe('visibility, recipients');
      const reader = await use(gateway, id, 'admin');
      if (id !== 'updateComment') expect(reader.text).toContain('"recipients":[{"id":7');
    },
  );

  it('are never removed if `permissions` is `report` or `off`', async () => {
    for (const level of ['report', 'off']) {
      const other = await startTestGateway({ upstream: fake, config: { checks: { permissions: level } } });
      fake.handler = json(whole);
      const got = await other.call(COMMENT, { user: 'bob' });
      expect([level, got.text, got.headers['portico-redacted']]).toEqual([level, whole, undefined]);
    }
  });

  it('are removed outside the cache: one stored page, with a separate ETag and length for each caller', async () => {
    const operations = { listAnswerComments: { cache: { audience: 'public', assumeImpersonal: true } } };
    const shared = await startTestGateway({ upstream: fake, config: { operations, cache: { sampleShared: 0 } } });
    const page = exampleOf('listAnswerComments');
    Object.assign(page.list[0], { visibility: 'recipients', recipients: [{ id: 7, name: 'Staff', type: 'group' }] });
    fake.handler = () => ({ json: page });
    const open = await shared.call(ANSWER_COMMENTS, { user: 'alice' });
    const closed = await shared.call(ANSWER_COMMENTS, { user: 'bob' });
    expect([open.text.includes('recipients'), closed.text.includes('recipients')]).toEqual([true, false]);
    expect(closed.headers['cache-status']).toMatch(/hit/);
    expect(closed.headers['content-length']).toBe(String(closed.bytes.length));
    expect(closed.headers.etag).not.toBe(open.headers.etag);
    const conditional = (user: string, tag: string | undefined) =>
      shared.call(ANSWER_COMMENTS, { user, headers: { 'If-None-Match': tag ?? '' } });
    expect((await conditional('bob', closed.headers.etag)).status).toBe(304);
    expect((await conditional('bob', open.headers.etag)).status).toBe(200);
    expect((await conditional('alice', closed.headers.etag)).status).toBe(200);
    const head = await shared.call(ANSWER_COMMENTS, { user: 'bob', method: 'HEAD' });
    expect(head.headers['content-length']).toBe(closed.headers['content-length']);
    expect((await shared.call(ANSWER_COMMENTS, { user: 'alice' })).text).toBe(open.text);
    expect(fake.requests).toHaveLength(1);
  });

  it('are withheld with an unreadable body from callers who may not see them', async () => {
    fake.handler = json('{"visibility":"recipients","recipients":[');
    expectError(await gateway.call(COMMENT, { user: 'bob' }), 502, 'upstream_invalid_response');
  });

  it('are found in any spelling and at any depth', async () => {
    fake.handler = json(
      String.raw`{"a":[{"visib\u0069lity":"recipients","b":1}],"\u0072ecipients":[],"visibility2":2}`,
    );
    expect((await gateway.call(COMMENT, { user: 'bob' })).text).toBe('{"a":[{"b":1}],"visibility2":2}');
  });
});
