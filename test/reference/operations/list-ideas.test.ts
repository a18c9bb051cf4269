import { describe, expect, it } from 'vitest';
import { withReferenceServer } from '../with-reference-server.ts';
import { anyNumber, anyText, textLike } from '../matchers.ts';

const { call } = withReferenceServer();

describe('operation 8, the idea list', () => {
  it('pages 15 of 120 ideas', async () => {
    const { json } = await call('/idea.json');
    expect(json).toMatchObject({ name: '', sort: 'active', page: 1, pageSize: 15, pageCount: 8, totalCount: 120 });
    expect(json.sorts).toHaveLength(12);
  });

  it('shows the idea shape: string id, plug, topic names, null parents, no view or vote counts', async () => {
    const { list } = (await call('/idea.json?pageSize=120')).json;
    for (const idea of list) {
      expect(idea).toMatchObject({
        id: textLike(/^\d+$/),
        type: 'idea',
        parentId: null,
        parentAuthor: null,
        plug: anyText,
        reportCount: anyNumber,
      });
      expect(idea.topics.every((topic: unknown) => typeof topic === 'string')).toBe(true);
      for (const absent of ['slug', 'viewCount', 'upVoteCount', 'downVoteCount', 'answers']) {
        expect(idea).not.toHaveProperty(absent);
      }
      expect(idea.author).toMatchObject({ avatar: textLike(/^http:\/\//), id: anyNumber });
      expect(idea.author).toHaveProperty('realname');
    }
    const withHash = list.filter(({ author }) => 'emailHash' in author);
    expect(withHash.length).toBeGreaterThan(0);
    expect(withHash.length).toBeLessThan(list.length);
  });

  it('searches and projects', async () => {
    const { json } = await call('/idea.json?q=theme&includeOnly=id,plug&pageSize=120');
    expect(json.totalCount).toBeGreaterThan(0);
    expect(json.totalCount).toBeLessThan(120);
    expect(Object.keys(json.list[0])).toEqual(['id', 'plug']);
  });

  it('is open to those with View list idea only', async () => {
    const statuses = ['admin', 'moderator', 'alice', 'bob', 'guest', null].map(
      async (user) => (await call('/idea.json', { user })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 401, 401]);
  });
});
