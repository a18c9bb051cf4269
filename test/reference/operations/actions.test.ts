import { describe, expect, it } from 'vitest';
import { TEST_NOW, withReferenceServer } from '../with-reference-server.ts';

const { call, questions, setNow } = withReferenceServer();
const STORED = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+$/;
const WEEKDAY = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/;

describe('operation 7, the action log', () => {
  it('returns 20 actions, newest first, and an instant to request more', async () => {
    const { json } = await call('/action.json');
    expect(Object.keys(json)).toEqual(['actions', 'moreResults']);
    const dates = json.actions.map(({ actionDate }) => actionDate);
    expect(dates).toHaveLength(20);
    expect(dates).toEqual(dates.toSorted().toReversed());
    expect(dates.every((date) => STORED.test(date))).toBe(true);
    expect(Number.isInteger(json.moreResults)).toBe(true);
  });

  it('returns the whole log through moreResults, each action once', async () => {
    const ids: number[] = [];
    let from = '';
    for (;;) {
      const { json } = await call(`/action.json?pageSize=900${from}`);
      if (json.actions.length === 0) break;
      ids.push(...json.actions.map(({ id }) => id));
      from = `&moreResults=${json.moreResults}`;
    }
    expect([ids.length, new Set(ids).size]).toEqual([4000, 4000]);
  });

  it('shows who canceled an action and when, in the weekday form', async () => {
    const { actions } = (await call('/action.json?pageSize=4000')).json;
    for (const action of actions) {
      expect(action.canceled).toBe('canceledByUser' in action);
      expect(action.canceled).toBe('canceledDate' in action);
      if (action.canceled) expect(action.canceledDate).toMatch(WEEKDAY);
    }
    const verbs = new Set(actions.map(({ verb }) => verb));
    const known = ['accepted', 'closed', 'commented', 'favorited', 'locked', 'reported', 'suggested', 'wikified'];
    expect([...verbs].toSorted()).toEqual(known);
  });

  it('prints the date of a recent action in the weekday form, and later in the stored form', async () => {
    const [question] = await questions();
    await call(`/node/${question.id}/comment.json`, { method: 'POST', body: { body: 'Hello' } });
    const newest = async () => (await call('/action.json?pageSize=1')).json.actions[0];
    expect(await newest()).toMatchObject({ verb: 'commented', actionDate: 'Mon May 04 10:30:15 UTC 2026' });
    setNow(TEST_NOW + 120_000);
    expect(await newest()).toMatchObject({ verb: 'commented', actionDate: '2026-05-04 10:30:15.25' });
    setNow(TEST_NOW);
  });

  it('applies paging and projection', async () => {
    const whole = (await call('/action.json?pageSize=10')).json.actions;
    const { json } = await call('/action.json?pageSize=5&page=2&includeOnly=id,user.username');
    expect(json.actions.map(({ id }) => id)).toEqual(whole.slice(5).map(({ id }) => id));
    expect(Object.keys(json.actions[0])).toEqual(['id', 'user']);
  });

  it('requires both the permission and the group Super Users', async () => {
    const denied = await call('/action.json', { user: 'moderator' });
    expect(denied.status).toBe(401);
    // The seed contains a group member who lacks the permission and a non-member who has all permissions.
    const members = (await call('/group/1/user.json')).json.list;
    const inGroupOnly = members.find(({ username }) => username !== 'admin').username;
    expect((await call('/action.json', { user: inGroupOnly })).status).toBe(401);
    const users = (await call('/user.json?pageSize=60')).json.list;
    const superuser = users.find((user) => user.superuser && user.username !== 'admin');
    expect((await call('/action.json', { user: superuser.username })).status).toBe(401);
    expect((await call('/group/1/user.json', { user: superuser.username })).status).toBe(200);
  });
});
