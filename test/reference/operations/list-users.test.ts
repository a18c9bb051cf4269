import { describe, expect, it } from 'vitest';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyList } from '../matchers.ts';

const { call, questions } = withReferenceServer();

const sortedNames = async (sort: string): Promise<string[]> => {
  const { json } = await call(`/group/3/user.json?sort=${sort}`);
  return [json.sort, ...json.list.map(({ username }) => username)];
};

describe('operation 9, the users of a group', () => {
  it('are sorted by reputation, and the list has no `sorts` field', async () => {
    const { json } = await call('/group/3/user.json');
    expect(json).toMatchObject({ sort: 'reputation', page: 1, pageSize: 35 });
    expect(json).not.toHaveProperty('sorts');
    const numbers = json.list.map(({ reputation }) => reputation);
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
    expect(numbers.length).toBeGreaterThan(2);
  });

  it('have group summaries, whose ids are strings', async () => {
    const { list } = (await call('/group/1/user.json')).json;
    const admin = list.find(({ username }) => username === 'admin');
    expect(admin).toMatchObject({
      id: 1,
      type: 'user',
      slug: 'admin',
      superuser: true,
      active: true,
      suspended: false,
      deactivated: false,
      groups: [{ id: '1', name: 'Super Users' }, { id: '3' }],
    });
    expect(Object.keys(admin.groups[0])).toEqual([
      'id',
      'creationDate',
      'creationDateFormatted',
      'modificationDate',
      'name',
    ]);
    expect(JSON.stringify(list)).not.toContain('@');
  });

  it('can be sorted by username, recent and oldest; an unknown sort is reset', async () => {
    const [, ...byName] = await sortedNames('username');
    expect(byName).toEqual(byName.toSorted());
    expect((await sortedNames('recent')).slice(1)).toEqual((await sortedNames('oldest')).slice(1).toReversed());
    expect((await sortedNames('nonsense'))[0]).toBe('reputation');
  });

  it('are refused with the documented error; an unknown group returns 404, and an invalid id 400', async () => {
    const denied = await call('/group/1/user.json', { user: 'alice' });
    expect([denied.status, denied.json]).toEqual([
      401,
      { errors: { message: "You don't have permission to do this action.<br>Please login as another user" } },
    ]);
    expect(denied.headers).not.toHaveProperty('www-authenticate');
    expect((await call('/group/99/user.json')).status).toBe(404);
    expect((await call('/group/x/user.json')).status).toBe(400);
  });
});

describe('operations 10 and 14, followers', () => {
  it('are users without sorts, on pages that count from 0', async () => {
    const { json } = await call('/topic/21/followers.json', { user: 'guest' });
    expect(json).toMatchObject({ name: '', sort: '', page: 0, pageSize: 35 });
    expect(json).not.toHaveProperty('sorts');
    expect(json.list[0]).toMatchObject({ type: 'user', groups: anyList });
  });

  it('have the rest on page 1', async () => {
    const first = (await call('/topic/21/followers.json?page=0')).json;
    const second = (await call('/topic/21/followers.json?page=1')).json;
    expect(first.pageCount).toBe(2);
    const ids = [...first.list, ...second.list].map(({ id }) => id);
    expect(new Set(ids).size).toBe(first.totalCount);
  });

  it('include inactive relations with active=false', async () => {
    const active = (await call('/topic/21/followers.json')).json.totalCount;
    expect((await call('/topic/21/followers.json?active=true')).json.totalCount).toBe(active);
    expect((await call('/topic/21/followers.json?active=false')).json.totalCount).toBeGreaterThan(active);
  });

  it('are follow relations with details=true', async () => {
    const { list } = (await call('/topic/21/followers.json?details=true&active=false&pageSize=60')).json;
    expect(list[0]).toMatchObject({
      type: 'followrelation',
      follower: { type: 'user' },
      followed: { id: 21, type: 'topic' },
    });
    expect(new Set(list.map(({ active }) => active))).toEqual(new Set([true, false]));
  });

  it('are also available for nodes, as an empty list for a node without followers', async () => {
    const all = await questions();
    const counts = await Promise.all(
      all.slice(0, 40).map(async ({ id }) => (await call(`/node/${id}/followers.json`)).json.totalCount),
    );
    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(Math.min(...counts)).toBe(0);
  });

  it('are projected', async () => {
    const { json } = await call('/topic/21/followers.json?includeOnly=username,groups.name&pageSize=1');
    expect(Object.keys(json.list[0])).toEqual(['username', 'groups']);
  });

  it.each([
    ['/topic/999/followers.json', 404],
    ['/topic/x/followers.json', 400],
    ['/node/999999/followers.json', 404],
    ['/node/99999999999999999999/followers.json', 400],
  ])('respond to %s with %i', async (path, status) => {
    expect((await call(path)).status).toBe(status);
  });
});

describe('operation 15, expertise', () => {
  it('lists the topics of the questions that the user has answered', async () => {
    const answers = (await call('/answer.json?pageSize=900')).json.list;
    const userId = answers[0].author.id;
    const all = await questions();
    const answered = answers.filter(({ author }) => author.id === userId);
    const parents = new Set(answered.map(({ originalParentId }) => originalParentId));
    const names = all.filter(({ id }) => parents.has(id)).flatMap(({ topics }) => topics.map(({ name }) => name));
    const { json } = await call(`/user/${userId}/expertise.json?pageSize=100`, { user: 'guest' });
    expect(json.list.map(({ name }) => name).toSorted()).toEqual([...new Set(names)].toSorted());
    expect(json).toMatchObject({ sort: '', page: 1 });
    expect(json).not.toHaveProperty('sorts');
  });

  it('counts the questions of each topic', async () => {
    const [first] = (await call('/user/7/expertise.json')).json.list;
    const tagged = (await questions()).filter(({ topics }) => topics.some(({ id }) => id === first.id));
    expect(first.usedCount).toBe(tagged.length);
  });

  it('responds with 404 to an unknown user', async () => {
    expect((await call('/user/999/expertise.json')).json).toEqual({ error: 'not found' });
  });
});
