import { beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { textLike } from '../matchers.ts';

const { call, server, questions } = withReferenceServer();
let questionId = 0;

beforeAll(async () => {
  // The question belongs to another user, so none of the callers is the original poster.
  const all = await questions();
  questionId = all.find(({ author, commentIds }) => author.id > 5 && commentIds.length === 0).id;
});

const post = (user: string, body: unknown, parent = questionId): Promise<ReceivedResponse> =>
  call(`/node/${parent}/comment.json`, { method: 'POST', user, body });
const put = (user: string, id: number, body: unknown): Promise<ReceivedResponse> =>
  call(`/comment/${id}.json`, { method: 'PUT', user, body });
const toBob = { visibility: 'recipients', recipients: [{ id: 4, type: 'user' }] };

const statusFor = async (user: string, { id }: { id: number }): Promise<number> =>
  (await call(`/comment/${id}.json`, { user })).status;

describe('adding a comment', () => {
  it('returns 201 with the comment and its absolute URL, and adds an action to the log', async () => {
    const response = await post('bob', { body: 'I see this too' });
    expect([response.status, response.json.type, response.json.author.username]).toEqual([201, 'comment', 'bob']);
    expect(response.headers.location).toBe(`${server().url}/services/v2/comment/${response.json.id}.json`);
    const [action] = (await call('/action.json?pageSize=1')).json.actions;
    expect(action).toMatchObject({
      verb: 'commented',
      node: { id: response.json.id, type: 'comment' },
      private: false,
    });
    expect((await call(`/question/${questionId}.json`)).json.commentIds).toContain(response.json.id);
  });

  it('hides a private comment from callers who are not recipients', async () => {
    const { json } = await post('alice', { body: 'For you', ...toBob });
    expect(json).toMatchObject({ visibility: 'recipients', recipients: [{ id: 4, name: 'bob', type: 'user' }] });
    const seen = async (user: string | null): Promise<number> =>
      (await call(`/comment/${json.id}.json`, { user })).status;
    expect([
      await seen('bob'),
      await seen('alice'),
      await seen('moderator'),
      await seen('guest'),
      await seen(null),
    ]).toEqual([200, 200, 401, 401, 401]);
  });

  it('shows moderators and the original poster the comments addressed to them', async () => {
    const toModerators = (await post('alice', { body: 'x', visibility: 'moderators' })).json;
    const own = (await questions()).find(({ author }) => author.username === 'bob');
    const toPoster = (await post('alice', { body: 'x', visibility: 'originalPoster' }, own.id)).json;
    expect(toModerators).not.toHaveProperty('recipients');
    expect([await statusFor('moderator', toModerators), await statusFor('bob', toModerators)]).toEqual([200, 401]);
    expect([await statusFor('bob', toPoster), await statusFor('moderator', toPoster)]).toEqual([200, 401]);
  });

  it('inherits the visibility and the recipients of the parent comment', async () => {
    const parent = (await post('alice', { body: 'For you', ...toBob })).json;
    const reply = await post('bob', { body: 'Thanks' }, parent.id);
    const { visibility, recipients } = (await call(`/comment/${reply.json.id}.json`, { user: 'admin' })).json;
    expect([reply.status, visibility, recipients[0].name]).toEqual([201, 'recipients', 'bob']);
    expect((await post('bob', { body: 'Same', visibility: 'recipients' }, parent.id)).status).toBe(201);
  });

  it('refuses any visibility except the inherited one with 400', async () => {
    const parent = (await post('alice', { body: 'For you', ...toBob })).json;
    for (const visibility of ['public', 'moderators']) {
      expect((await post('alice', { body: 'x', visibility }, parent.id)).status).toBe(400);
    }
    const recipients = [{ id: 2, type: 'user' }];
    expect((await post('alice', { body: 'x', recipients }, parent.id)).json.error).toMatch(/inherited/);
  });

  it('refuses recipients without the visibility recipients with 400', async () => {
    for (const visibility of [undefined, 'public', 'moderators']) {
      const response = await post('alice', { body: 'x', visibility, recipients: toBob.recipients });
      expect([response.status, response.json.error]).toEqual([400, textLike(/recipients/)]);
    }
  });

  it('refuses a private visibility without its permission with 400', async () => {
    for (const visibility of ['recipients', 'moderators', 'originalPoster']) {
      expect((await post('bob', { body: 'x', visibility })).json.error).toMatch(/permission/);
    }
    // This user has the permission Use Private Comments, but may send private comments only to moderators.
    const limited = (await call('/user.json?sort=oldest&pageSize=60')).json.list.find(({ id }) => id === 9).username;
    expect((await post(limited, { body: 'x', visibility: 'moderators' })).status).toBe(201);
    expect((await post(limited, { body: 'x', visibility: 'originalPoster' })).status).toBe(400);
  });

  it.each([
    [{}, /body/],
    [[], /comment is missing/],
    [{ body: ' ' }, /body/],
    [{ body: 'x', visibility: 7 }, /visibility/],
    [{ body: 'x', visibility: 'secret' }, /unknown/],
    [{ body: 'x', visibility: 'recipients', recipients: [{ id: 'x', type: 'user' }] }, /id and a type/],
    [{ body: 'x', visibility: 'recipients', recipients: [{ id: 999, type: 'user' }] }, /does not exist/],
    ['{"body":', /not valid JSON/],
  ])('refuses %j with 400', async (body, reason) => {
    const response = await post('alice', body);
    expect([response.status, response.json.error]).toEqual([400, textLike(reason)]);
  });

  it('requires a credential, an existing node, and permission to see the parent comment', async () => {
    const parent = (await post('alice', { body: 'For you', ...toBob })).json;
    expect(
      (await call(`/node/${questionId}/comment.json`, { method: 'POST', user: null, body: { body: 'x' } })).status,
    ).toBe(401);
    expect((await post('bob', { body: 'x' }, 999_999)).status).toBe(404);
    expect((await post('guest', { body: 'x' }, parent.id)).status).toBe(401);
  });
});

describe('changing a comment', () => {
  it('changes the body and adds a revision', async () => {
    const before = (await post('bob', { body: 'Frist' })).json;
    const after = await put('bob', before.id, { body: 'First' });
    expect([after.status, after.json.body]).toEqual([200, 'First']);
    expect(after.json.revisionIds).toEqual([before.activeRevisionId, after.json.activeRevisionId]);
    expect(Number.isInteger(after.json.activeRevisionId)).toBe(true);
    expect((await call(`/comment/${before.id}.json`)).json.body).toBe('First');
  });

  it('is allowed for the author only', async () => {
    const { id } = (await post('bob', { body: 'Mine' })).json;
    for (const user of ['alice', 'moderator', 'admin']) {
      const denied = await put(user, id, { body: 'Not yours' });
      expect([denied.status, denied.json.errors.message]).toEqual([401, textLike(/<br>/)]);
    }
  });

  it('makes a comment private together with its replies', async () => {
    const { id } = (await post('alice', { body: 'Open' })).json;
    const reply = (await post('bob', { body: 'Open too' }, id)).json;
    expect(
      (await put('alice', id, { visibility: 'recipients', recipients: [{ id: 3, type: 'group' }] })).json,
    ).toMatchObject({
      visibility: 'recipients',
      recipients: [{ id: 3, name: 'Employees', type: 'group' }],
    });
    expect((await call(`/comment/${reply.id}.json`)).json.visibility).toBe('recipients');
    expect((await put('bob', reply.id, { visibility: 'public' })).status).toBe(400);
    expect((await put('alice', id, { visibility: 'public' })).json).not.toHaveProperty('visibility');
  });

  it('keeps the visibility when only the body is sent', async () => {
    const { id } = (await post('alice', { body: 'For you', ...toBob })).json;
    expect((await put('alice', id, { body: 'Still for you' })).json).toMatchObject(toBob);
  });

  it('refuses recipients without the visibility recipients, and visibilities without permission', async () => {
    const { id } = (await post('bob', { body: 'Open' })).json;
    expect((await put('bob', id, { recipients: toBob.recipients })).status).toBe(400);
    expect((await put('bob', id, { visibility: 'moderators' })).json.error).toMatch(/permission/);
  });

  it('responds with 400 to an invalid id, and with 404 to a node that is not a comment', async () => {
    expect((await put('bob', Number.NaN, { body: 'x' })).status).toBe(400);
    expect((await put('bob', questionId, { body: 'x' })).status).toBe(404);
  });
});
