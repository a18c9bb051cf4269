import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import type { ClientResponse, Call } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { OBSERVED_OPERATIONS, OPERATIONS, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const TO_POSTER = 'Send private comments to the original poster';
const TO_MODERATORS = 'Send private comments to moderators';
const TO_GROUPS = 'Send private comments to own groups';
const USE = 'Use Private Comments';

/** Comments keyed by id: a public comment, two comments with limited visibility, and replies to them. */
const COMMENTS: Readonly<Record<string, object>> = {
  1: { id: 1, visibility: undefined },
  2: { id: 2, visibility: 'recipients', recipients: [{ id: 7, name: 'Champions', type: 'group' }] },
  3: { id: 3, visibility: 'moderators' },
  12: { id: 12, originalParentId: 2, visibility: 'recipients' },
  11: { id: 11, originalParentId: 1 },
};
const AUTHORS = new Set<string | undefined>(['alice', 'poster', 'mods', 'groups', 'idle', 'sender']);

const holder = (...permissions: string[]) => ({ inherits: ['standard'], permissions });

let fake: FakeUpstream;
let gateway: TestGateway;
let roles: string;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  roles = await fastRoles(
    [
      { name: 'poster', roles: ['poster'] },
      { name: 'mods', roles: ['mods'] },
      { name: 'groups', roles: ['groups'] },
      { name: 'idle', roles: ['idle'] },
      { name: 'sender', roles: ['sender'] },
    ],
    {
      roles: {
        poster: holder(USE, TO_POSTER),
        mods: holder(USE, TO_MODERATORS),
        groups: holder(USE, TO_GROUPS),
        idle: holder(USE),
        sender: holder(TO_POSTER, TO_MODERATORS, TO_GROUPS),
      },
    },
  );
  gateway = await startTestGateway({ upstream: fake, roles });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = (request) => {
    const id = /\/comment\/(\d+)\.json$/.exec(request.path)?.[1] ?? '';
    const own = AUTHORS.has(request.user) ? request.user : 'somebody';
    if (request.method !== 'GET') return exampleResponse(request);
    if (!(id in COMMENTS)) return { status: 404, json: { error: 'not found' } };
    return { json: { ...exampleOf('getComment'), author: { id: 18, username: own, reputation: 1 }, ...COMMENTS[id] } };
  };
});

const reply = (body: object, user = 'alice', node = 1, more: Call = {}, to = gateway): Promise<ClientResponse> =>
  to.call(`/services/v2/node/${node}/comment.json`, { method: 'POST', user, body: { body: 'x', ...body }, ...more });
const change = (body: object, user = 'alice', comment = 11, to = gateway): Promise<ClientResponse> =>
  to.call(`/services/v2/comment/${comment}.json`, { method: 'PUT', user, body: { body: 'x', ...body } });
const writes = () => fake.requests.filter(({ method }) => method !== 'GET');

describe('rules 10: the two operations', () => {
  it('are the only inferred ones, and have plans', () => {
    const observed = new Set(OBSERVED_OPERATIONS);
    expect(OPERATIONS.filter((one) => !observed.has(one)).map(({ id }) => id)).toEqual([
      'updateComment',
      'createComment',
    ]);
    expect(gateway.gateway.planLines).toHaveLength(OPERATIONS.length + 1);
  });
  it("write with the client's bytes: 201 for a new comment, 200 for a changed one", async () => {
    const body = '{"body": "x", "big": 9007199254740993 }';
    const headers = { 'Content-Type': 'application/json' };
    const made = await gateway.call('/services/v2/node/1/comment.json', {
      method: 'POST',
      user: 'alice',
      headers,
      body,
    });
    const changed = await gateway.call('/services/v2/comment/11.json', { method: 'PUT', user: 'alice', headers, body });
    expect([made.status, changed.status]).toEqual([201, 200]);
    expect(writes().map((request) => request.body.toString())).toEqual([body, body]);
  });
  it.each([{}, { body: 17 }, { body: '' }, 'text'])('refuse a new comment whose body is %j', async (body) => {
    const got = await gateway.call('/services/v2/node/1/comment.json', { method: 'POST', user: 'alice', body });
    expectError(got, 400, 'invalid_body');
    expect(fake.requests).toEqual([]);
  });
  it('need a credential even if anonymous callers are allowed', async () => {
    const open = await startTestGateway({ upstream: fake, roles, config: { authentication: { anonymous: 'allow' } } });
    expectError(
      await open.call('/services/v2/node/1/comment.json', { method: 'POST', user: null, body: { body: 'x' } }),
      401,
      'credentials_required',
    );
    expect(fake.requests).toEqual([]);
  });
  it('work with the reference server: the written comment can be read', async () => {
    const reference = await startReferenceServer();
    try {
      const whole = await startTestGateway({ upstream: reference });
      const { json } = await whole.call('/services/v2/question.json?pageSize=1', { user: 'alice' });
      const target = `/services/v2/node/${json.list[0].id}/comment.json`;
      const made = await whole.call(target, { method: 'POST', user: 'alice', body: { body: 'first words' } });
      expect(made.status).toBe(201);
      const comment = `/services/v2/comment/${made.json.id}.json`;
      expect((await whole.call(comment, { method: 'PUT', user: 'alice', body: { body: 'other words' } })).status).toBe(
        200,
      );
      expect((await whole.call(comment, { user: 'bob' })).json.body).toContain('other words');
      expectError(
        await whole.call(comment, { method: 'PUT', user: 'bob', body: { body: 'mine' } }),
        403,
        'permission_denied',
      );
    } finally {
      await reference.close();
    }
  });
});

describe('rules 10: contract.inferred', () => {
  const [put, post] = [
    OPERATIONS.find(({ id }) => id === 'updateComment'),
    OPERATIONS.find(({ id }) => id === 'createComment'),
  ];
  const allow = [{ method: 'POST', path: '/services/v2/node/{id}/comment.json' }];

  it('is on with the embedded upstream, and off with a real one, for which they are undocumented paths', async () => {
    const real = await startFakeUpstream(knowing());
    const strict = await startTestGateway({ upstream: real, real: true, roles, config: { mode: 'strict' } });
    expect(strict.gateway.planLines).toHaveLength(OBSERVED_OPERATIONS.length + 1);
    for (const operation of [put, post]) {
      if (operation === undefined) throw new Error('missing');
      const got = await strict.call(targetOf(operation), {
        method: operation.method,
        user: 'zoe',
        body: operation.body,
      });
      expect([404, 405]).toContain(got.status);
    }
    expect(real.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    await strict.gateway.services.records.flush();
    const { entries } = await strict.gateway.services.records.snapshot();
    expect(entries.map(({ keyword, message }) => [keyword, message])).toEqual(
      [put, post].map(() => ['path', 'This method of the path is only inferred, and contract.inferred is off.']),
    );
  });
  it('off lets them through unchecked if undocumented.allow names them', async () => {
    const config = { contract: { inferred: 'off' }, undocumented: { allow } };
    const off = await startTestGateway({ upstream: fake, roles, config });
    const got = await reply({ recipients: [{ id: 7, name: 'x', type: 'group' }] }, 'idle', 1, {}, off);
    expect(got.status).toBe(201);
    expect(await off.lineOf(String(got.headers['x-request-id']))).toMatchObject({ route: 'passthrough' });
  });
  it('on makes them operations with a real upstream', async () => {
    const real = await startFakeUpstream(knowing());
    const config = { mode: 'strict', contract: { inferred: 'on' } };
    const on = await startTestGateway({ upstream: real, real: true, roles, config });
    expect(on.gateway.planLines).toHaveLength(OPERATIONS.length + 1);
    expect((await reply({}, 'zoe', 1, {}, on)).status).toBe(201);
  });
});

describe("rules 10: private visibility needs Use Private Comments and the option's permission", () => {
  const options = { originalPoster: 'poster', moderators: 'mods', recipients: 'groups' };
  const needed = { originalPoster: TO_POSTER, moderators: TO_MODERATORS, recipients: TO_GROUPS };

  it.each(Object.entries(options))('%s: only with its own permission (%s), or all', async (visibility, allowed) => {
    for (const user of [...Object.values(options), 'alice']) {
      for (const got of [await reply({ visibility }, user), await change({ visibility }, user)]) {
        if (user === allowed || user === 'alice') expect(got.status).toBeLessThan(300);
        else {
          expectError(got, 400, 'visibility_not_permitted');
          const { [visibility as keyof typeof needed]: permission } = needed;
          expect(got.json.details[0]).toMatchObject({ in: 'body', name: '/visibility', permission });
        }
      }
    }
  });
  it.each(Object.keys(options))('%s: neither of the two is enough alone', async (visibility) => {
    const without = await reply({ visibility }, 'sender');
    expectError(without, 400, 'visibility_not_permitted');
    expect(without.json.details[0]?.permission).toBe(USE);
    expectError(await reply({ visibility }, 'idle'), 400, 'visibility_not_permitted');
    expect(writes()).toEqual([]);
  });
  it('a visibility that is not a private option is left to the upstream', async () => {
    for (const visibility of ['public', 'everyone', '__proto__', 'constructor'])
      expect((await reply({ visibility }, 'idle')).status).toBe(201);
  });
  it('a caller whom only the upstream knows is checked by the upstream', async () => {
    const real = await startFakeUpstream(knowing());
    const config = { mode: 'strict', contract: { inferred: 'on' } };
    const delegating = await startTestGateway({ upstream: real, real: true, roles, config });
    expect((await reply({ visibility: 'moderators' }, 'zoe', 1, {}, delegating)).status).toBe(201);
  });
});

describe('rules 10: option names are configurable', () => {
  it('each name is mapped to one of the three; recipients is fixed', async () => {
    const visibilityOptions = { toTheBoss: 'toModerators', toUs: 'toOwnGroups' };
    const named = await startTestGateway({ upstream: fake, roles, config: { comments: { visibilityOptions } } });
    const status = async (visibility: string, user: string) => (await reply({ visibility }, user, 1, {}, named)).status;
    expect([await status('toTheBoss', 'mods'), await status('toTheBoss', 'groups')]).toEqual([201, 400]);
    expect([await status('toUs', 'groups'), await status('toUs', 'mods')]).toEqual([201, 400]);
    expect([await status('recipients', 'groups'), await status('recipients', 'mods')]).toEqual([201, 400]);
    // The configured names replace the names that Portico would otherwise guess.
    expect(await status('moderators', 'idle')).toBe(201);
  });
  it('an unknown meaning is a configuration error at startup', async () => {
    const config = { comments: { visibilityOptions: { a: 'toEverybody' } } };
    await expect(startTestGateway({ upstream: fake, roles, config })).rejects.toMatchObject({
      faults: [{ pointer: '/comments/visibilityOptions/a' }],
    });
  });
});

describe('rules 10: Portico checks the three documented conditions', () => {
  const recipients = [{ id: 7, name: 'Champions', type: 'group' }];

  it('a reply to a comment with limited visibility inherits it, and cannot change it', async () => {
    for (const [node, visibility] of [
      [2, 'moderators'],
      [2, 'public'],
      [3, 'recipients'],
    ] as const)
      expectError(await reply({ visibility }, 'alice', node), 400, 'visibility_not_inherited');
    expectError(await change({ visibility: 'moderators' }, 'alice', 12), 400, 'visibility_not_inherited');
    expect(writes()).toEqual([]);
  });
  it('a reply may repeat the inherited visibility', async () => {
    expect((await reply({ visibility: 'recipients', recipients }, 'alice', 2)).status).toBe(201);
    expect((await reply({ visibility: 'moderators' }, 'alice', 3)).status).toBe(201);
    expect((await change({ visibility: 'recipients' }, 'alice', 12)).status).toBe(200);
  });
  it('a reply to a public or unreadable comment inherits nothing', async () => {
    for (const node of [1, 99]) expect((await reply({ visibility: 'moderators' }, 'alice', node)).status).toBe(201);
    expect((await change({ visibility: 'moderators' }, 'alice', 11)).status).toBe(200);
  });
  it("the parent is read with the caller's credential", async () => {
    await reply({ visibility: 'moderators' }, 'mods', 2);
    expect(fake.requests.map(({ method, path, user }) => [method, path, user])).toEqual([
      ['GET', '/services/v2/comment/2.json', 'mods'],
    ]);
  });
  it('no comment is read for a body without a visibility', async () => {
    await reply({}, 'alice', 2);
    expect(fake.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each([
    ['no visibility', {}],
    ['another private option', { visibility: 'moderators' }],
    ['a public visibility', { visibility: 'public' }],
  ])('recipients with %s are refused', async (_name, more) => {
    for (const got of [await reply({ recipients, ...more }), await change({ recipients, ...more })]) {
      expectError(got, 400, 'recipients_without_visibility');
      expect(got.json.details[0]).toMatchObject({ in: 'body', name: '/recipients' });
    }
    expect(writes()).toEqual([]);
  });
  it('an empty list of recipients is accepted', async () => {
    expect((await reply({ recipients: [] })).status).toBe(201);
  });
  it('recipients are accepted with an inherited visibility too', async () => {
    expect((await reply({ recipients }, 'alice', 2)).status).toBe(201);
    expectError(await reply({ recipients }, 'alice', 3), 400, 'recipients_without_visibility');
  });

  it('all violated conditions are reported, and the first determines the code', async () => {
    const got = await reply({ visibility: 'moderators', recipients }, 'groups', 2);
    expectError(got, 400, 'visibility_not_inherited');
    expect(got.json.details.map(({ name }) => name)).toEqual(['/visibility', '/recipients', '/visibility']);
  });
  it('violations are only reported under requests report', async () => {
    const config = { checks: { requests: 'report' } };
    const reporting = await startTestGateway({ upstream: fake, roles, config });
    const got = await reply({ recipients }, 'idle', 1, {}, reporting);
    expect(got.status).toBe(201);
    expect(await reporting.lineOf(String(got.headers['x-request-id']))).toMatchObject({
      checks: { requests: 'reported' },
    });
  });
});
