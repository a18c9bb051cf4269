import { beforeAll, describe, expect, it } from 'vitest';
import { settingsDigest } from '../../../src/engine/config/changed-keys.ts';
import { configSchema } from '../../../src/engine/config/config-schema.ts';
import { PORTICO, loadSettings } from '../../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { configurationRows } from '../../../src/features/console/create-api.ts';
import type { Call } from '../../builders/call.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { withReferenceServer } from '../../reference/with-reference-server.ts';

const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const basic = { Authorization: `Basic ${Buffer.from(`me:${TOKEN}`).toString('base64')}` };
const WRITES = [
  'violations/0123456789abcdef/accept',
  'violations/0123456789abcdef/withdraw',
  'levels/lift',
  'cache/purge',
  'levels',
  'levels/end',
];
const READS = [
  'status',
  'traffic',
  'violations',
  'levels',
  'levels/ladder',
  'permissions',
  'cache',
  'upstream',
  'configuration',
];

interface ListedRow {
  readonly fingerprint: string;
  readonly count: number;
  readonly history: { readonly hours: readonly number[] };
}

const api = (gateway: TestGateway, path: string, call?: Call) => gateway.admin(`/console/api/${path}`, call);

describe('the data of the console', () => {
  const { server } = withReferenceServer({ complete: true, chaos: ['missing-field:title@13'] });

  describe('without a token', () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startTestGateway({ upstream: server() });
      await gateway.call('/services/v2/article.json');
    });

    it.each(READS)('can be read: %s', async (path) => {
      const { status, headers } = await api(gateway, path);
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    });

    it.each(WRITES)('cannot be changed, and reports which setting is missing: %s', async (path) => {
      const { status, json } = await api(gateway, path, { method: 'POST', body: { all: true } });
      expect([status, json.error]).toEqual([403, expect.stringContaining('PORTICO_ADMIN_TOKEN')]);
      expect((await gateway.call('/services/v2/article.json?page=2')).status).toBe(200);
    });

    it('is refused to pages of other sites, under any host name', async () => {
      const origin = { headers: { Origin: 'http://evil.example' } };
      expect((await api(gateway, 'status', origin)).status).toBe(403);
      expect((await api(gateway, 'status', { headers: { Host: 'evil.example' } })).status).toBe(403);
      expect((await gateway.admin('/console/', { headers: { Host: 'evil.example' } })).status).toBe(403);
    });

    it('lists violations page by page', async () => {
      const response = await api(gateway, 'violations?category=advisory&page=99');
      expect(response.json).toMatchObject({ total: 1, page: 1, pageCount: 1, facets: { category: { advisory: 1 } } });
      const [row] = (JSON.parse(response.text) as { rows: ListedRow[] }).rows;
      expect(row).toMatchObject({ operation: 'listArticles', at: '/list/*/title', check: 'responses' });
      expect(row?.history).toMatchObject({ firstRelease: 'unlabelled', hours: { length: 24 } });
      expect(row?.history.hours.reduce((sum, count) => sum + count)).toBe(row?.count);
      const one = await api(gateway, `violations/${row?.fingerprint}`);
      const [sample] = (JSON.parse(one.text) as { samples: { requestId: string }[] }).samples;
      expect(sample?.requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(JSON.parse(one.text)).toMatchObject({
        place: { file: 'schemas/openapi.yaml', line: expect.any(Number) as number },
        fix: { overlay: expect.arrayContaining(['overlay: 1.0.0', 'actions:']) as string[] },
      });
      expect((await api(gateway, 'violations/0000000000000000')).status).toBe(404);
    });

    it('explains a request or names the invalid field', async () => {
      const explain = (body: object) => api(gateway, 'explain', { method: 'POST', body });
      const linesOf = async (body: object) => JSON.parse((await explain(body)).text) as { lines: string[] };
      const target = 'https://qa.example/services/v2/group/1/user.json';
      expect((await linesOf({ target, as: 'alice' })).lines.at(-2)).toContain('403 permission_denied');
      const upload = { method: 'POST', target: '/services/v2/users/gdpr/upload.json', as: 'admin' };
      const checked = async (body: string) => (await linesOf({ ...upload, body })).lines.join('\n');
      expect(await checked('{"content": 7}')).toContain('/content must be string');
      expect(await checked('{"content": "a,b"}')).not.toContain('/content must be string');
      for (const [request, field] of [
        [{ target: 'question.json' }, 'target'],
        [{ target: '/a b' }, 'target'],
        [{ target: `/${'x'.repeat(5000)}` }, 'target'],
        [{ target: '/', method: 'BREW' }, 'method'],
        [[], 'target'],
      ] as const)
        expect(await explain(request)).toMatchObject({ status: 400, json: { field } });
      // An explanation changes nothing, so the audit trail contains none.
      expect((await gateway.admin('/audit')).text).not.toContain('"action":"change"');
    });

    it.each([
      'traffic?minutes=999999',
      'traffic?minutes=-1&minutes=2',
      'cache?limit=x&tag=a&tag=b',
      'violations?page=1e9',
    ])('stays within its bounds: %s', async (path) => {
      expect((await api(gateway, path)).status).toBe(200);
    });
  });

  describe('with a token', () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startTestGateway({ upstream: server(), env: { PORTICO_ADMIN_TOKEN: TOKEN } });
      await gateway.call('/services/v2/question.json');
    });
    const purge = (call: Call) => api(gateway, 'cache/purge', { method: 'POST', body: { all: true }, ...call });
    const json = { 'Content-Type': 'application/json' };

    it('is refused without the token', async () => {
      for (const path of READS) expect((await api(gateway, path)).status).toBe(401);
      for (const path of ['/console/', '/console/main.js']) expect((await gateway.admin(path)).status).toBe(401);
    });

    it('accepts the token as Bearer from programs and as a password from browsers', async () => {
      for (const headers of [bearer, basic]) expect((await api(gateway, 'status', { headers })).status).toBe(200);
    });

    // Browsers send Basic credentials automatically, even with requests made by another site's page.
    it('accepts changes with Basic only from the console’s own pages', async () => {
      expect((await purge({ headers: { ...basic, ...json } })).status).toBe(403);
      for (const site of ['cross-site', 'same-site', 'none'])
        expect((await purge({ headers: { ...basic, ...json, 'Sec-Fetch-Site': site } })).status).toBe(403);
      const other = { Origin: 'http://evil.example', 'Sec-Fetch-Site': 'same-origin' };
      expect((await purge({ headers: { ...basic, ...json, ...other } })).status).toBe(403);
      expect((await api(gateway, 'cache', { headers: bearer })).json).toMatchObject({ entries: 1 });
      expect((await purge({ headers: { ...basic, ...json, 'Sec-Fetch-Site': 'same-origin' } })).json).toEqual({
        purged: 1,
      });
      expect((await purge({ headers: { ...basic, ...json, Origin: gateway.adminUrl } })).status).toBe(200);
      expect((await purge({ headers: { ...bearer, ...json } })).status).toBe(200);
    });

    it('accepts changes only as JSON, which HTML forms cannot send', async () => {
      const text = { ...bearer, 'Content-Type': 'text/plain' };
      expect((await purge({ body: '{"all":true}', headers: text })).status).toBe(415);
      expect((await purge({ body: '{"all"', headers: { ...bearer, ...json } })).status).toBe(400);
    });

    it.each([
      ['cache/purge', {}, 400],
      ['cache/purge', { tag: '' }, 400],
      ['cache/purge', [], 400],
      ['levels/lift', {}, 400],
      ['levels/lift', { operation: 'listQuestions', check: 'constructor' }, 400],
      ['levels/lift', { operation: 'listQuestions', check: 'responses' }, 409],
      ['levels', { operation: 'listIdeas', kind: 'disable', forMinutes: 5 }, 400],
      ['levels/end', { operation: 'listIdeas' }, 404],
      ['levels/end', {}, 400],
      ['violations/0000000000000000/accept', { reason: 'a', owner: 'b' }, 404],
      ['violations/0000000000000000/withdraw', {}, 409],
    ])('reports what is wrong with a change: %s %j', async (path, body, status) => {
      const response = await api(gateway, path, { method: 'POST', body, headers: bearer });
      expect([response.status, typeof response.json.error]).toEqual([status, 'string']);
    });

    it('never shows the token', async () => {
      for (const path of READS) expect((await api(gateway, path, { headers: bearer })).text).not.toContain(TOKEN);
    });
  });
});

const env = {
  UPSTREAM_URL: 'http://robot:planted@legacy.example/qa',
  PORTICO_ADMIN_TOKEN: 'planted-token',
  PORTICO_CONFIG: new URL('../../../config/portico.yaml', import.meta.url).pathname,
};
const flags = [{ source: '--port', kind: 'flag' as const, pointer: '/listen/port', value: 9999 }];
const base = loadSettings({ env: { PORTICO_CONFIG: env.PORTICO_CONFIG }, cwd: '/' });

describe('the rows of the configuration', () => {
  it('show each value with its origin', () => {
    const settings = loadSettings({ env: { ...env, UPSTREAM_URL: undefined }, cwd: '/', flags });
    const rows = new Map(configurationRows(settings).map((row) => [row.key, row]));
    expect(rows.get('listen.port')).toEqual({
      key: 'listen.port',
      value: '9999',
      origin: 'flag',
      source: '--port',
      secret: false,
    });
    expect(rows.get('cache.enabled')).toMatchObject({ value: 'true', origin: 'default' });
    expect(rows.get('mode')).toMatchObject({ value: '"strict"', origin: 'default', source: undefined });
    expect(rows.get('adminToken')).toMatchObject({
      origin: 'environment',
      source: 'PORTICO_ADMIN_TOKEN',
      secret: true,
    });
  });

  it('mask secrets, and addresses’ names and passwords', () => {
    const settings = {
      ...withUpstreamUrl(base, env.UPSTREAM_URL),
      adminToken: env.PORTICO_ADMIN_TOKEN,
      upstream: {
        ...base.upstream,
        url: env.UPSTREAM_URL,
        legacyOrigins: ['https://user:planted@old.example'],
        credentials: { kind: 'service' as const, username: 'robot', password: 'planted' },
      },
    };
    const rows = configurationRows(settings);
    expect(JSON.stringify(rows)).not.toContain('planted');
    const url = rows.find(({ key }) => key === 'upstream.url');
    expect(url?.value).toMatch(/^"http:\/\/•+@legacy\.example\/qa"$/);
  });

  it('show an address of Redis that contains no password', () => {
    const settings = { ...base, redis: { ...base.redis, url: 'redis://redis.example:6379' } };
    const row = configurationRows(settings).find(({ key }) => key === 'redis.url');
    expect(row).toMatchObject({ value: '"redis://redis.example:6379"', secret: false });
    const other = { ...base, redis: { ...base.redis, url: 'redis://10.0.0.1:6379' } };
    expect(settingsDigest(settings, [])).toBe(settingsDigest(other, []));
  });

  it('mask the address of Redis, and it does not affect the digest', () => {
    const withUrl = (url: string) => ({ ...base, redis: { ...base.redis, url, password: 'planted' } });
    const settings = withUrl('redis://:planted@redis.example');
    expect(JSON.stringify(configurationRows(settings))).not.toContain('planted');
    expect(settingsDigest(settings, [])).toBe(settingsDigest(withUrl('redis://:other@redis.example'), []));
  });

  it('show the location of a secret, which is not secret itself', () => {
    const place = { kind: 'service' as const, username: 'robot', passwordFile: '/run/secrets/upstream' };
    const settings = { ...base, upstream: { ...base.upstream, credentials: place } };
    const row = configurationRows(settings).find(({ key }) => key === 'upstream.credentials.passwordFile');
    expect(row).toMatchObject({ value: '"/run/secrets/upstream"', secret: false });
  });

  it('include every configuration key', () => {
    const { properties } = configSchema(PORTICO) as { properties: object };
    const shown = new Set(configurationRows(base).map(({ key }) => key.split('.')[0]));
    expect(Object.keys(properties).filter((key) => !shown.has(key))).toEqual([]);
  });

  it('include only configuration keys, each with a text', () => {
    const { properties } = configSchema(PORTICO) as { properties: object };
    const rows = configurationRows(base);
    const known = new Set(Object.keys(properties));
    expect(rows.filter(({ key, value }) => !known.has(key.split('.')[0] ?? '') || typeof value !== 'string')).toEqual(
      [],
    );
  });
});
