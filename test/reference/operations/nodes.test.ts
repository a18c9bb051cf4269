import { describe, expect, it } from 'vitest';
import { NODE_SORT_NAMES } from '../../../src/reference/lists/list-nodes.ts';
import type { Items, LegacyBody } from '../legacy-body.ts';
import { anyBoolean, anyList, anyNumber, anyText, textLike } from '../matchers.ts';
import { withReferenceServer } from '../with-reference-server.ts';

describe('operation 6, the question list', () => {
  const { call, questions } = withReferenceServer({ complete: true });
  const ENVELOPE = ['name', 'sort', 'page', 'pageSize', 'pageCount', 'listCount', 'totalCount', 'sorts', 'list'];

  const list = async (query: string): Promise<Items<LegacyBody>> => (await call(`/question.json?${query}`)).json.list;

  /**
   * Returns the values of a count, such as `followerCount`, for the first 40 questions in the given sort order. Only
   * the undocumented path for a single question returns this count.
   */
  const shown = async (sort: string, field: string): Promise<number[]> => {
    const items = await list(`sort=${sort}&pageSize=40`);
    const singles = await Promise.all(items.map(({ id }) => call(`/question/${id}.json?includeOnly=${field}`)));
    return singles.map(({ json }) => (json as unknown as Record<string, number>)[field] ?? -1);
  };

  it('returns the envelope with 15 active questions and all sort names', async () => {
    const { status, json, headers } = await call('/question.json');
    expect([status, headers['content-type']]).toEqual([200, 'application/json;charset=UTF-8']);
    expect(Object.keys(json)).toEqual(ENVELOPE);
    expect(json).toMatchObject({
      name: '',
      sort: 'active',
      page: 1,
      pageSize: 15,
      pageCount: 34,
      listCount: 15,
      totalCount: 500,
    });
    expect(json.sorts).toEqual([
      'active',
      'newest',
      'hottest',
      'votes',
      'viewCount',
      'usedCount',
      'answerCount',
      'answerCountAsc',
      'commentCount',
      'favoriteCount',
      'followers',
      'reportCount',
    ]);
  });

  it('shows all fields of a question', async () => {
    const [question] = await list('pageSize=1');
    expect(question).toEqual({
      id: anyNumber,
      type: 'question',
      creationDate: anyNumber,
      creationDateFormatted: textLike(/^\d\d\/\d\d\/\d{4} \d\d:\d\d [AP]M$/),
      title: anyText,
      body: anyText,
      bodyAsHTML: textLike(/^<p>/),
      author: { id: anyNumber, username: anyText, reputation: anyNumber },
      lastEditedAction: anyNumber,
      activeRevisionId: anyNumber,
      revisionIds: anyList,
      lastActiveUserId: anyNumber,
      lastActiveDate: anyNumber,
      originalParentId: null,
      attachments: anyList,
      childrenIds: anyList,
      commentIds: anyList,
      marked: anyBoolean,
      topics: anyList,
      primaryContainerId: anyNumber,
      containerIds: [anyNumber],
      slug: textLike(/^[a-z0-9-]+$/),
      wiki: anyBoolean,
      score: anyNumber,
      depth: 0,
      viewCount: anyNumber,
      upVoteCount: anyNumber,
      downVoteCount: anyNumber,
      nodeStates: anyList,
      answers: anyList,
      answerCount: anyNumber,
    });
  });

  it('returns each question on one page only', async () => {
    const ids = (await questions()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(500);
  });

  it.each([
    ['page=0', 1, 15],
    ['page=6&pageSize=100', 6, 0],
    ['page=x&pageSize=0', 1, 15],
    ['pageSize=1000000', 1, 500],
  ])('responds to ?%s with page %i and %i items', async (query, page, count) => {
    const { status, json } = await call(`/question.json?${query}`);
    expect([status, json.page, json.listCount, json.list.length]).toEqual([200, page, count, count]);
  });

  it('supports all sort names', async () => {
    const values: Record<string, (question: LegacyBody) => number> = {
      active: (question) => -question.lastActiveDate,
      newest: (question) => -question.creationDate,
      votes: (question) => -question.score,
      viewCount: (question) => -question.viewCount,
      answerCount: (question) => -question.answerCount,
      answerCountAsc: (question) => question.answerCount,
      commentCount: (question) => -question.commentIds.length,
    };
    for (const [sort, value] of Object.entries(values)) {
      const numbers = (await list(`sort=${sort}&pageSize=60`)).map(value);
      expect(numbers, sort).toEqual(numbers.toSorted((one, other) => one - other));
    }
    for (const sort of NODE_SORT_NAMES) {
      expect((await call(`/question.json?sort=${sort}&pageSize=1`)).json.sort).toBe(sort);
    }
  });

  it('sorts by counts that it never shows, even with include', async () => {
    const [named] = await list('pageSize=1&include=favoriteCount,followerCount');
    expect(named).not.toHaveProperty('favoriteCount');
    for (const numbers of [await shown('favoriteCount', 'favoriteCount'), await shown('followers', 'followerCount')]) {
      expect(numbers[0]).toBeGreaterThan(0);
      expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
    }
  });

  it('resets an unknown sort to the default', async () => {
    expect((await call('/question.json?sort=nonsense')).json.sort).toBe('active');
  });

  it('searches for each word of q in title, body and topics', async () => {
    const found = await list('q=Login+empty*&pageSize=500');
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(500);
    for (const { title, body, topics } of found) {
      const text = `${title} ${body} ${topics.map(({ name }) => name).join(' ')}`.toLowerCase();
      expect(text).toMatch(/login/);
      expect(text).toMatch(/empty/);
    }
    expect(await list('q=%25%25nothing%5f')).toEqual([]);
  });

  it('filters by topics, by name or id, in repeated parameters or separated by commas', async () => {
    const comma = await list('topics=login%2Cbackup&pageSize=500');
    const repeated = await list('topics=login&topics=backup&pageSize=500');
    expect(comma.length).toBeGreaterThan(0);
    expect(comma).toEqual(repeated);
    expect(comma.every(({ topics }) => topics.some(({ name }) => name === 'login' || name === 'backup'))).toBe(true);
    const byId = await list(`topics=${comma[0]?.topics[0]?.id}&pageSize=500`);
    expect(byId.length).toBeGreaterThan(0);
  });

  it('filters by unanswered', async () => {
    const open = await list('unanswered=true&pageSize=500');
    expect(open.length).toBeGreaterThan(50);
    expect(open.every(({ answerCount }) => answerCount === 0)).toBe(true);
    expect((await list('unanswered=false&pageSize=500')).length).toBe(500);
  });

  it('filters by spaceId and by the older name space', async () => {
    const space = (await list('pageSize=1'))[0].containerIds[0];
    const inSpace = await list(`spaceId=${space}&pageSize=500`);
    expect(inSpace.length).toBeGreaterThan(0);
    expect(inSpace.length).toBeLessThan(500);
    expect(inSpace.every(({ containerIds }) => containerIds.includes(space))).toBe(true);
    expect(await list(`space=${space}&pageSize=500`)).toEqual(inSpace);
    expect(await list('spaceId=999999')).toEqual([]);
  });

  it('filters by type and lang', async () => {
    expect((await list('type=question&pageSize=500')).length).toBe(500);
    expect(await list('type=idea')).toEqual([]);
    const german = await list('lang=de&pageSize=500');
    expect(german.length).toBeGreaterThan(0);
    expect(german.length).toBeLessThan(500);
  });

  it('applies projection to its items, but not to its envelope', async () => {
    const { json } = await call('/question.json?includeOnly=id,author.username&pageSize=2');
    expect(Object.keys(json)).toEqual(ENVELOPE);
    expect(json.list.map(Object.keys)).toEqual([
      ['id', 'author'],
      ['id', 'author'],
    ]);
    expect(Object.keys(json.list[0].author)).toEqual(['username']);
    expect((await call('/question.json?exclude=body&pageSize=1')).json.list[0]).not.toHaveProperty('body');
  });

  it('accepts wrap and v1, but ignores them', async () => {
    expect((await call('/question.json?wrap=true&v1=true')).text).toBe((await call('/question.json')).text);
  });

  it('responds to HEAD without a body', async () => {
    const whole = await call('/question.json');
    const head = await call('/question.json', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(whole.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)));
    expect(head.headers['content-length']).toBe(whole.headers['content-length']);
  });
});

describe('operation 13, the article list', () => {
  const { call } = withReferenceServer({ complete: true });

  it('returns 15 of 60 articles of type kbentry', async () => {
    const { json } = await call('/article.json');
    expect(json).toMatchObject({ sort: 'active', page: 1, pageSize: 15, pageCount: 4, totalCount: 60 });
    expect(json.list.every(({ type, slug }) => type === 'kbentry' && slug !== '')).toBe(true);
  });

  it('applies page and pageSize', async () => {
    const { json } = await call('/article.json?page=3&pageSize=25');
    expect(json).toMatchObject({ page: 3, pageSize: 25, listCount: 10 });
  });

  it('requires View list kbentry', async () => {
    expect((await call('/article.json', { user: 'guest' })).status).toBe(401);
  });
});

describe('operation 8, the idea list', () => {
  const { call } = withReferenceServer({ complete: true });

  it('returns 15 of 120 ideas', async () => {
    const { json } = await call('/idea.json');
    expect(json).toMatchObject({ name: '', sort: 'active', page: 1, pageSize: 15, pageCount: 8, totalCount: 120 });
    expect(json.sorts).toHaveLength(12);
  });

  it('shows ideas with a string id, plug, topic names, null parents, and no view or vote counts', async () => {
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

  it('applies search and projection', async () => {
    const { json } = await call('/idea.json?q=theme&includeOnly=id,plug&pageSize=120');
    expect(json.totalCount).toBeGreaterThan(0);
    expect(json.totalCount).toBeLessThan(120);
    expect(Object.keys(json.list[0])).toEqual(['id', 'plug']);
  });

  it('requires View list idea', async () => {
    const statuses = ['admin', 'moderator', 'alice', 'bob', 'guest', null].map(
      async (user) => (await call('/idea.json', { user })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 401, 401]);
  });
});
