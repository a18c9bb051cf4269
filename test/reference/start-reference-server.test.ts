import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startReferenceServer, type ReferenceServerOptions } from '../../src/reference/start-reference-server.ts';
import { openSql } from '../../src/reference/store/sql.ts';
import { clientOf } from './reference-client.ts';
import { anyText } from './matchers.ts';

const folder = mkdtempSync(join(tmpdir(), 'reference-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PATHS = [
  '/question.json?pageSize=500',
  '/idea.json?pageSize=120',
  '/article.json?pageSize=60',
  '/comment.json?pageSize=1500',
  '/action.json?pageSize=4000',
  '/user.json?pageSize=60',
  '/topic/21/followers.json?details=true&active=false&pageSize=60',
].map((path) => `/services/v2${path}`);

async function bytesOf(options: ReferenceServerOptions): Promise<string[]> {
  const server = await startReferenceServer(options);
  const responses = await Promise.all(PATHS.map((path) => clientOf(server.url)(path)));
  await server.close();
  return responses.map(({ text }) => text);
}

describe('startReferenceServer', () => {
  it('returns the same bytes for the same seed, in memory and in a file, at any time', async () => {
    const first = await bytesOf({ seed: 7 });
    expect(await bytesOf({ seed: 7, clock: () => Date.UTC(2031, 1, 1), db: join(folder, 'same.db') })).toEqual(first);
  });

  it('returns different content of the same size for another seed', async () => {
    const [one, other] = [await bytesOf({ seed: 1 }), await bytesOf({ seed: 2 })];
    one.forEach((text, index) => expect(text).not.toBe(other[index]));
    expect(other[4]?.match(/"verb":/g)).toHaveLength(4000);
  });

  it('keeps its state across a restart and continues with new ids', async () => {
    const db = join(folder, 'kept', 'community.db');
    const first = await startReferenceServer({ db });
    const { list } = (await clientOf(first.url)('/services/v2/question.json?pageSize=500')).json;
    const { id } = list.find(({ wiki }) => wiki);
    await clientOf(first.url)(`/services/v2/node/${id}/cancelwiki.json`, { method: 'PUT' });
    const comment = { method: 'POST', body: { body: 'Hello' } };
    const made = (await clientOf(first.url)(`/services/v2/node/${id}/comment.json`, comment)).json;
    await first.close();

    const second = await startReferenceServer({ db, seed: 99 });
    const call = clientOf(second.url);
    expect((await call(`/services/v2/question/${id}.json`)).json).toMatchObject({
      wiki: false,
      title: anyText,
    });
    expect((await call(`/services/v2/comment/${made.id}.json`)).json).toEqual(made);
    expect((await call('/services/v2/question.json')).json.totalCount).toBe(500);
    expect((await call(`/services/v2/node/${id}/comment.json`, comment)).json.id).toBeGreaterThan(made.id);
    await second.close();
  });

  it('rejects a file with other content and does not change it', async () => {
    const db = join(folder, 'other.db');
    const other = openSql(db);
    other.script('CREATE TABLE precious (id INTEGER)');
    other.close();
    await expect(startReferenceServer({ db })).rejects.toThrow(/other\.db is not a database/);
    const after = openSql(db);
    expect(after.all('SELECT name FROM sqlite_schema')).toHaveLength(1);
    after.close();
  });

  it('accepts a base path with or without a trailing slash', async () => {
    const server = await startReferenceServer({ basePath: '/qa/' });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/qa$/);
    expect((await clientOf(server.url)('/services/v2/space.json')).status).toBe(200);
    await server.close();
  });

  it('closes immediately, including idle connections, and can be closed twice', async () => {
    const server = await startReferenceServer();
    await fetch(`${server.url}/services/v2/space.json`).then((response) => response.text());
    await Promise.all([server.close(), server.close()]);
    await expect(clientOf(server.url)('/services/v2/space.json')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('rejects an invalid base path and an address in use without leaving anything open', async () => {
    await expect(startReferenceServer({ basePath: 'qa' })).rejects.toThrow(/base path/);
    const server = await startReferenceServer();
    const port = Number(new URL(server.url).port);
    await expect(startReferenceServer({ port })).rejects.toThrow(/EADDRINUSE/);
    await server.close();
  });

  it('refuses a body that is too large with 413 and no stack trace', async () => {
    const server = await startReferenceServer();
    const body = 'x'.repeat(21 * 1024 * 1024);
    const response = await fetch(`${server.url}/services/v2/users/gdpr/upload.json`, { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([413, expect.not.stringContaining('node_modules')]);
    await server.close();
  });
});
