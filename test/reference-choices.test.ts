import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LegacyBody } from './reference/legacy-body.ts';
import { withReferenceServer } from './reference/with-reference-server.ts';

/** Returns the names in the table of choices in docs/reference-server.md. */
function listedChoices(): string[] {
  const [, section = ''] = /## Choices\n(.*?)\n## /s.exec(readFileSync('docs/reference-server.md', 'utf8')) ?? [];
  return [...section.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name = '']) => name);
}

/** Returns the names of choices in the comments of the reference server, which may break after `choice`. */
function markedChoices(): string[] {
  const sources = globSync('src/reference/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  return sources.flatMap((text) =>
    [...text.matchAll(/choice\s+(?:\*\s+)?`([a-z0-9-]+)`/g)].map(([, name = '']) => name),
  );
}

type Fields = Readonly<Record<string, unknown>>;
const idsOf = ({ list }: LegacyBody) => (list as unknown as readonly Fields[]).map(({ id }) => id);

describe('the choices of the reference server', () => {
  const { call, questions } = withReferenceServer({ complete: true });
  const get = async (path: string) => (await call(path)).json;
  const total = async (path: string) => (await get(path)).totalCount;

  /** Tries each choice that can be observed with a few requests. */
  const TRIALS: Readonly<Record<string, () => Promise<void>>> = {
    'search-substrings': async () => {
      const title = (await questions())[0]?.title ?? '';
      const part = title.slice(1, 5).trim();
      expect(await total(`/question.json?q=${encodeURIComponent(part.toUpperCase())}*`)).toBeGreaterThan(0);
    },
    'topics-any': async () => {
      const topics = (await questions()).flatMap((one) => one.topics as unknown as readonly Fields[]);
      const names = [...new Set(topics.map(({ name }) => String(name)))].slice(0, 2).map(encodeURIComponent);
      const both = await total(`/question.json?topics=${names.join(',')}`);
      expect(await total(`/question.json?topics=${names.join('&topics=')}`)).toBe(both);
      for (const name of names) expect(await total(`/question.json?topics=${name}`)).toBeLessThanOrEqual(both);
      expect(both).toBeGreaterThan(await total(`/question.json?topics=${names[0]}`));
    },
    'unanswered-values': async () => {
      const [all, open] = [await total('/question.json'), await total('/question.json?unanswered=true')];
      expect(open).toBeLessThan(all);
      for (const value of ['', 'yes', '1']) expect(await total(`/question.json?unanswered=${value}`)).toBe(open);
      for (const value of ['false', '0', 'NO']) expect(await total(`/question.json?unanswered=${value}`)).toBe(all);
    },
    'type-and-lang': async () => expect(await total('/question.json?type=unknown')).toBe(0),
    'space-alias': async () => {
      const [space] = ((await questions())[0]?.containerIds ?? []) as readonly unknown[];
      expect(await total(`/question.json?space=${String(space)}`)).toBe(
        await total(`/question.json?spaceId=${String(space)}`),
      );
    },
    'filters-everywhere': async () => expect(await total('/article.json?q=no-such-word')).toBe(0),
    'sort-unknown': async () => {
      expect(await get('/question.json?sort=unknown')).toEqual(await get('/question.json'));
    },
    'page-malformed': async () => {
      for (const query of ['page=x', 'page=-1', 'pageSize=x', 'pageSize=0', 'page=9999999999'])
        expect(await get(`/question.json?${query}`)).toEqual(await get('/question.json'));
    },
    'page-zero': async () => expect(await get('/question.json?page=0')).toEqual(await get('/question.json?page=1')),
    'page-beyond': async () => {
      expect(await get('/question.json?page=9999')).toMatchObject({ page: 9999, listCount: 0, list: [] });
    },
    'page-size-unbounded': async () => {
      expect(await get('/question.json?pageSize=100000')).toMatchObject({ pageSize: 100_000, pageCount: 1 });
    },
    'page-size-questions': async () => expect(await get('/question.json')).toMatchObject({ pageSize: 15 }),
    'projection-paths': async () => {
      const { list } = await get('/question.json?includeOnly=id,author.username&include=slug&exclude=id');
      expect(Object.keys((list as unknown as readonly Fields[])[0] ?? {}).toSorted()).toEqual(['author', 'slug']);
    },
    'more-results': async () => {
      const first = (await get('/action.json')) as unknown as { actions: readonly Fields[]; moreResults: number };
      const next = (await get(`/action.json?moreResults=${first.moreResults}`)) as unknown as typeof first;
      const ids = new Set(first.actions.map(({ id }) => id));
      expect(next.actions.filter(({ id }) => ids.has(id))).toEqual([]);
      expect(await get('/action.json?moreResults=0')).toEqual({ actions: [], moreResults: 0 });
    },
    'unknown-parameters': async () => {
      expect(await get('/question.json?color=red&wrap=true&v1=true')).toEqual(await get('/question.json'));
    },
    'permission-401': async () => {
      const got = await call('/action.json', { user: 'bob' });
      expect([got.status, got.headers['www-authenticate'], got.text]).toEqual([
        401,
        undefined,
        expect.stringContaining('<br>'),
      ]);
    },
    'credential-401': async () => {
      const [none, wrong] = [
        await call('/action.json', { user: null }),
        await call('/action.json', { password: 'wrong' }),
      ];
      expect([none.status, none.text, wrong.status]).toEqual([401, '', 401]);
      expect(wrong.json).toMatchObject({ error: 'Bad credentials' });
    },
    'id-malformed': async () => {
      expect(await call('/comment/abc.json')).toMatchObject({
        status: 400,
        json: { error: "The provided 'comment id' is/are invalid" },
      });
    },
    'id-unknown': async () => {
      expect(await call('/comment/1.json')).toMatchObject({ status: 404, json: { error: 'not found' } });
    },
    'wiki-twice': async () => {
      const wiki = (await questions()).find((one) => one.wiki)?.id;
      const put = async () => await call(`/node/${String(wiki)}/cancelwiki.json`, { method: 'PUT' });
      expect((await put()).status).toBe(200);
      const again = await put();
      expect([again.status, again.headers['content-type']]).toEqual([401, 'text/html;charset=utf-8']);
    },
    'favorite-twice': async () => {
      const [question] = idsOf(await get('/question.json?sort=favoriteCount'));
      const own = async () => await call(`/node/${String(question)}/unmarkfavorite.json`, { method: 'PUT' });
      await own();
      expect(await own()).toMatchObject({ status: 400, json: { error: 'The node is not one of your favorites.' } });
    },
    'file-id': async () => {
      const got = await call('/users/gdpr/upload.json', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: { content: 'username\nbob\n' },
      });
      expect([got.status, typeof (got.json as unknown as Fields)['fileId']]).toEqual([201, 'number']);
    },
    'html-errors': async () => {
      const [unknown, method] = [await call('/nowhere.json'), await call('/question.json', { method: 'DELETE' })];
      expect([unknown.status, method.status]).toEqual([404, 405]);
      for (const { headers } of [unknown, method]) expect(headers['content-type']).toContain('text/html');
    },
  };

  it('are listed in docs/reference-server.md and marked in the code, under the same names', () => {
    expect([...new Set(markedChoices())].toSorted()).toEqual(listedChoices().toSorted());
  });

  it('are tried here under the names of the table', () => {
    expect(Object.keys(TRIALS).filter((name) => !listedChoices().includes(name))).toEqual([]);
  });

  it.each(Object.entries(TRIALS))('%s: the server behaves as listed', async (_, trial) => {
    await trial();
  });
});
