import { beforeAll, describe, expect, it } from 'vitest';
import type { LegacyBody } from '../legacy-body.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyNumber, anyText, textLike } from '../matchers.ts';

const { call, questions } = withReferenceServer();

let all: readonly LegacyBody[] = [];
let secret: readonly LegacyBody[] = [];

beforeAll(async () => {
  all = (await call('/comment.json?pageSize=2000')).json.list;
  secret = all.filter(({ visibility }) => visibility !== undefined);
});

const sees = async (user: string, comment: LegacyBody): Promise<number> =>
  (await call(`/comment/${comment.id}.json`, { user })).status;
const named = (comment: LegacyBody, type: string, name: string): boolean =>
  comment.recipients?.some((recipient) => recipient.type === type && recipient.name === name) ?? false;

const countSeen = async (user: string): Promise<number> =>
  (await call('/question.json?pageSize=500', { user })).json.list.flatMap(({ commentIds }) => commentIds).length;

describe('operation 4, one comment', () => {
  it('has neither a title nor containers', async () => {
    const { json } = await call(`/comment/${all[0]?.id}.json`, { user: 'guest' });
    expect(json).toMatchObject({ id: all[0]?.id, containerIds: [] });
    for (const absent of ['title', 'primaryContainerId', 'slug', 'answers', 'visibility', 'recipients']) {
      expect(json).not.toHaveProperty(absent);
    }
  });

  it('has visibility and recipients if it is private, and ids above 2^53 with all digits', async () => {
    expect(secret.length).toBeGreaterThan(50);
    const addressed = secret.find(({ visibility }) => visibility === 'recipients');
    const { json, text } = await call(`/comment/${addressed?.id}.json`);
    expect(json.visibility).toBe('recipients');
    expect(json.recipients[0]).toEqual({
      id: anyNumber,
      name: anyText,
      type: textLike(/^(group|user)$/),
    });
    expect(text).toMatch(/"activeRevisionId":90071992547\d{5},/);
    expect(BigInt(/"activeRevisionId":(\d+)/.exec(text)?.[1] ?? 0) % 2n).toBe(1n);
  });

  it('has visibility and recipients only for callers with the permissions to use private comments', async () => {
    const forBob = secret.find((comment) => named(comment, 'user', 'bob'));
    const seenBy = async (user: string) => (await call(`/comment/${forBob?.id}.json`, { user })).json;
    expect(await seenBy('admin')).toMatchObject({ visibility: 'recipients', recipients: forBob?.recipients });
    const shown = await seenBy('bob');
    expect(shown.body).toBe(forBob?.body);
    expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['visibility']));
    expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['recipients']));
  });

  it('is visible only to author, recipients, members of recipient groups and administrators', async () => {
    const forBob = secret.find((comment) => named(comment, 'user', 'bob'));
    const byAlice = secret.find(
      ({ author, recipients }) => author.username === 'alice' && !recipients?.some(({ type }) => type === 'group'),
    );
    const forGroup = secret.find(
      (comment) =>
        named(comment, 'group', 'Champions') && !named(comment, 'user', 'alice') && comment.author.username !== 'alice',
    );
    if (forBob === undefined || byAlice === undefined || forGroup === undefined)
      throw new Error('the seed lacks a case');
    expect(await sees('bob', forBob)).toBe(200);
    expect(await sees('alice', byAlice)).toBe(200);
    expect(await sees('alice', forGroup)).toBe(200);
    expect(await sees('admin', forBob)).toBe(200);
    expect(await sees('guest', byAlice)).toBe(401);
  });

  it('is visible only to moderators, author and administrators if addressed to moderators', async () => {
    const some = secret.filter(({ visibility }) => visibility === 'moderators');
    const comment = some.find(({ author }) => author.username !== 'moderator' && author.username !== 'alice');
    if (comment === undefined) throw new Error('the seed lacks a case');
    expect(comment).not.toHaveProperty('recipients');
    for (const user of ['moderator', 'admin', comment.author.username]) expect(await sees(user, comment)).toBe(200);
    for (const user of ['alice', 'guest']) expect([user, await sees(user, comment)]).toEqual([user, 401]);
  });

  it('is visible only to thread starter, author and administrators if addressed to the original poster', async () => {
    const some = secret.filter(({ visibility }) => visibility === 'originalPoster');
    const roots = await questions();
    const threads = some.flatMap((comment) =>
      roots.filter(({ commentIds }) => commentIds.includes(comment.id)).map((root) => ({ comment, root })),
    );
    const found = threads.find(({ comment, root }) => {
      const parties = [comment.author.username, root.author.username];
      return new Set(parties).size === 2 && !parties.some((name) => name === 'moderator' || name === 'alice');
    });
    if (found === undefined) throw new Error('the seed lacks a case');
    const { comment, root } = found;
    expect(comment).not.toHaveProperty('recipients');
    for (const user of [root.author.username, 'admin', comment.author.username])
      expect([user, await sees(user, comment)]).toEqual([user, 200]);
    for (const user of ['alice', 'moderator', 'guest']) expect([user, await sees(user, comment)]).toEqual([user, 401]);
  });

  it('applies projection', async () => {
    const { json } = await call(`/comment/${all[0]?.id}.json?includeOnly=id,author.username`);
    expect(json).toEqual({ id: all[0]?.id, author: { username: all[0]?.author.username } });
  });

  it.each([
    ['/comment/abc.json', 400, { error: "The provided 'comment id' is/are invalid" }],
    ['/comment/-1.json', 400, { error: "The provided 'comment id' is/are invalid" }],
    ['/comment/9223372036854775807.json', 404, { error: 'not found' }],
    ['/comment/21.json', 404, { error: 'not found' }],
  ])('responds to %s with %i', async (path, status, body) => {
    const response = await call(path);
    expect([response.status, response.json]).toEqual([status, body]);
  });
});

describe('operation 5, the comments of a node', () => {
  it('are a bare array with the ids that the node shows', async () => {
    const question = (await questions()).find(({ commentIds }) => commentIds.length > 1);
    const { items } = await call(`/node/${question.id}/comment.json`);
    expect(items.map(({ id }) => id)).toEqual(question.commentIds);
  });

  it('are an empty array for a node without comments, and 404 for an unknown node', async () => {
    const silent = (await questions()).find(({ commentIds }) => commentIds.length === 0);
    expect((await call(`/node/${silent.id}/comment.json`)).json).toEqual([]);
    expect((await call('/node/999999/comment.json')).status).toBe(404);
  });

  it('omit private comments of others, including from the ids of the node', async () => {
    const parents = await Promise.all(
      secret
        .slice(0, 20)
        .map(async ({ id }) => (await call(`/comment/${id}.json?includeOnly=originalParentId`)).json.originalParentId),
    );
    for (const parentId of parents) {
      const open = await call(`/node/${parentId}/comment.json`, { user: null });
      if (open.status === 401) continue;
      expect(open.items.filter(({ visibility }) => visibility !== undefined)).toEqual([]);
      const whole = (await call(`/node/${parentId}/comment.json`)).items;
      expect(whole.length).toBeGreaterThan(open.items.length);
    }
    expect(await countSeen('guest')).toBeLessThan(await countSeen('admin'));
  });

  it('have a separate type on ideas', async () => {
    const ideas = (await call('/idea.json?pageSize=120')).json.list;
    const idea = ideas.find(({ commentIds }) => commentIds.length > 0);
    expect((await call(`/node/${idea.id}/comment.json`)).items[0].type).toBe('ideacomment');
  });
});

describe('operation 16, the comments of an answer', () => {
  it('are in an envelope, 15 per page, oldest first, with sorts', async () => {
    const answers = (await call('/answer.json?pageSize=900')).json.list;
    const answer = answers.find(({ commentIds }) => commentIds.length > 1);
    const { json } = await call(`/answer/${answer.id}/comment.json`);
    expect(json).toMatchObject({ name: '', sort: '', page: 1, pageSize: 15, totalCount: answer.commentIds.length });
    expect(json.sorts).toHaveLength(12);
    const dates = json.list.map(({ creationDate }) => creationDate);
    expect(dates).toEqual(dates.toSorted((one, other) => one - other));
  });

  it('return 404 for a node that is not an answer, and 400 for an invalid id', async () => {
    const [question] = await questions();
    expect((await call(`/answer/${question.id}/comment.json`)).status).toBe(404);
    expect((await call('/answer/x/comment.json')).status).toBe(400);
  });
});
