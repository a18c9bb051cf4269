import { describe, expect, it } from 'vitest';
import { withReferenceServer } from '../with-reference-server.ts';

const { call } = withReferenceServer();

describe('operation 13, the article list', () => {
  it('pages 15 of 60 articles of type kbentry', async () => {
    const { json } = await call('/article.json');
    expect(json).toMatchObject({ sort: 'active', page: 1, pageSize: 15, pageCount: 4, totalCount: 60 });
    expect(json.list.every(({ type, slug }) => type === 'kbentry' && slug !== '')).toBe(true);
  });

  it('applies page and pageSize', async () => {
    const { json } = await call('/article.json?page=3&pageSize=25');
    expect(json).toMatchObject({ page: 3, pageSize: 25, listCount: 10 });
  });

  it('is closed to those without View list kbentry', async () => {
    expect((await call('/article.json', { user: 'guest' })).status).toBe(401);
  });
});
