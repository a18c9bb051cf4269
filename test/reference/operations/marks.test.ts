import { beforeAll, describe, expect, it } from 'vitest';
import type { Items, LegacyBody } from '../legacy-body.ts';
import type { ReceivedResponse } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { textLike } from '../matchers.ts';

const { call, questions } = withReferenceServer();
let all: Items<LegacyBody>;

beforeAll(async () => {
  all = await questions();
});

const put = (user: string | null, id: number, what: string): Promise<ReceivedResponse> =>
  call(`/node/${id}/${what}.json`, { method: 'PUT', user });
const canceled = {
  canceled: true,
  canceledByUser: { username: 'admin' },
  canceledDate: 'Mon May 04 10:30:15 UTC 2026',
};

async function favoritesOf(user: string): Promise<number[]> {
  const { actions } = (await call('/action.json?pageSize=4000')).json;
  return actions
    .filter((action) => action.verb === 'favorited' && !action.canceled)
    .filter((action) => action.user.username === user)
    .map((action) => action.node.id);
}

describe('operation 11, unfavorite', () => {
  it('removes the favorite of the caller, cancels its action and returns the remaining count', async () => {
    const mine = await favoritesOf('admin');
    expect(mine.length).toBeGreaterThan(9);
    const [id = 0] = mine;
    const before = (await call(`/question/${id}.json?includeOnly=favoriteCount`)).json.favoriteCount;
    const { status, json } = await put('admin', id, 'unmarkfavorite');
    expect([status, Object.keys(json), json.success]).toEqual([200, ['success', 'result'], true]);
    expect(json.result).toMatchObject({
      favoriteAction: { ...canceled, verb: 'favorited', node: { id, type: 'question' }, user: { username: 'admin' } },
      favoriteCount: before - 1,
    });
    const { actions } = (await call('/action.json?pageSize=4000')).json;
    const logged = actions.find((action) => action.id === json.result.favoriteAction.id);
    expect(logged).toEqual(json.result.favoriteAction);
    expect(await favoritesOf('admin')).toHaveLength(mine.length - 1);
  });

  it('responds with 400 in JSON if the node is a favorite of another user only', async () => {
    const others = await favoritesOf('bob');
    const hers = (await favoritesOf('alice')).find((id) => !others.includes(id)) ?? 0;
    const response = await put('bob', hers, 'unmarkfavorite');
    expect([response.status, response.json]).toEqual([400, { error: 'The node is not one of your favorites.' }]);
    expect((await put('alice', hers, 'unmarkfavorite')).status).toBe(200);
    expect((await put('alice', hers, 'unmarkfavorite')).status).toBe(400);
  });

  it('requires a credential and the permission', async () => {
    const anonymous = await put(null, all[0].id, 'unmarkfavorite');
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, textLike(/^Basic /)]);
    expect((await put('guest', all[0].id, 'unmarkfavorite')).json).toHaveProperty('errors');
  });

  it('responds with 400 to an invalid id, and with 404 to an unknown node', async () => {
    expect((await put('alice', Number.NaN, 'unmarkfavorite')).status).toBe(400);
    expect((await put('alice', 999_999, 'unmarkfavorite')).status).toBe(404);
  });
});

const wikis = (): readonly LegacyBody[] => all.filter(({ wiki }) => wiki);

describe('operation 12, unwikify', () => {
  it('has at least 20 wiki questions by several authors for tests, some of them by alice', () => {
    const authors = wikis().map(({ author }) => author.username);
    expect(authors.length).toBeGreaterThanOrEqual(20);
    expect(new Set(authors).size).toBeGreaterThan(5);
    expect(authors.filter((name) => name === 'alice').length).toBeGreaterThan(3);
  });

  it('removes the wiki mark of the node and cancels its action', async () => {
    const { id } = all.find(({ wiki }) => wiki);
    const { status, json } = await put('admin', id, 'cancelwiki');
    expect([status, json.success, Object.keys(json.result)]).toEqual([200, true, ['wikifyAction']]);
    expect(json.result.wikifyAction).toMatchObject({ ...canceled, verb: 'wikified', node: { id } });
    expect((await call(`/question/${id}.json`)).json.wiki).toBe(false);
  });

  it('responds with an HTML page and 401 if the node is not a wiki', async () => {
    const plain = all.find(({ wiki }) => !wiki);
    const response = await put('admin', plain.id, 'cancelwiki');
    expect([response.status, response.headers['content-type']]).toEqual([401, 'text/html;charset=utf-8']);
    expect(response.text).toContain('Tomcat');
    expect(response.headers).not.toHaveProperty('www-authenticate');
  });

  it('is allowed for callers with the wiki permission, and for authors on their own nodes', async () => {
    const hers = all.find(({ wiki, author }) => wiki && author.username === 'alice');
    const other = all.find(({ wiki, author }) => wiki && author.id > 20);
    const third = all.find(({ wiki, author, id }) => wiki && author.id > 20 && id !== other.id);
    expect((await put('alice', other.id, 'cancelwiki')).json).toHaveProperty('errors');
    expect((await put('bob', hers.id, 'cancelwiki')).json).toHaveProperty('errors');
    expect((await put('alice', hers.id, 'cancelwiki')).status).toBe(200);
    expect((await put('moderator', third.id, 'cancelwiki')).status).toBe(200);
    expect((await put(null, other.id, 'cancelwiki')).headers).toHaveProperty('www-authenticate');
  });
});

describe('marking, the opposite of operations 11 and 12', () => {
  it('adds a favorite again and prints its new action in the weekday form', async () => {
    const mine = await favoritesOf('alice');
    const free = all.find(({ id }) => !mine.includes(id));
    const { json } = await put('alice', free.id, 'markfavorite');
    expect(json.result.favoriteAction).toMatchObject({ canceled: false, actionDate: 'Mon May 04 10:30:15 UTC 2026' });
    expect((await put('alice', free.id, 'markfavorite')).status).toBe(400);
    expect((await put('alice', free.id, 'unmarkfavorite')).status).toBe(200);
  });

  it('makes a wiki again', async () => {
    const own = all.find(({ author, wiki }) => author.username === 'bob' && !wiki);
    expect((await put('bob', own.id, 'wiki')).json.result.wikifyAction).toMatchObject({
      verb: 'wikified',
      canceled: false,
    });
    expect((await put('bob', own.id, 'wiki')).status).toBe(401);
    expect((await put('bob', own.id, 'cancelwiki')).status).toBe(200);
  });
});
