import express, { type RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { createSignOut } from '../../../src/engine/http/admin-guard.ts';
import { type AdminAppServices, createAdminApp } from '../../../src/engine/http/admin-app.ts';
import type { AdminRoute } from '../../../src/engine/http/admin-route.ts';
import type { OperatorAction } from '../../../src/engine/model/operator-action.ts';
import { createLogger } from '../../../src/engine/telemetry/logs.ts';
import { callAt, type Call } from '../../builders/call.ts';
import { serve } from './serve.ts';

async function admin(more: Partial<AdminAppServices> = {}, routes: readonly AdminRoute[] = []) {
  const purged: unknown[] = [];
  const actions: OperatorAction[] = [];
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const side = createAdminApp({
    guard: { loopback: true, token: undefined },
    readiness: () => ({ ready: true, reasons: [] }),
    upstreamHealth: () => ({ status: 'healthy', reasons: [], addresses: [] }),
    metrics: metricsWith(() => Promise.resolve('portico_up 1\n')),
    purge: (tags) => {
      purged.push(tags);
      return 3;
    },
    reload: () => Promise.resolve({ outcome: 'applied', changed: [], warnings: [] }),
    acted: (action) => actions.push(action),
    clock: () => 1_700_000_000_000,
    logger: createLogger({ level: 'debug', clock: () => 1_700_000_000_000, stream }),
    ...more,
  });
  side.prepare(routes)();
  const { url } = await serve(side.app);
  return {
    purged,
    lines,
    actions,
    side,
    call: (target: string, call: Call = {}) => callAt(url, target, { user: null, ...call }),
  };
}

const metricsWith = (exposition: AdminAppServices['metrics']['exposition']): AdminAppServices['metrics'] => ({
  exposition,
  formatFor: () => 'text',
  contentTypes: { text: 'text/plain; charset=utf-8', openMetrics: '' },
});

const operatorRoute = (path: string, handler: RequestHandler, more: Partial<AdminRoute> = {}): AdminRoute => ({
  path,
  access: 'operator',
  handler,
  ...more,
});

const purge = (body: unknown): Call => ({ method: 'POST', body });

describe('the admin side', () => {
  it('lets a browser forget its token: it refuses the token and accepts an invalid credential', async () => {
    const guard = { loopback: true, token: 'secret' };
    const { call } = await admin({ guard }, [
      { path: '/console/sign-out', access: 'anyone', handler: createSignOut(guard) },
      operatorRoute('/console', (_req, res) => void res.json({})),
    ]);
    const basic = (name: string, password: string) => `Basic ${btoa(`${name}:${password}`)}`;
    const signOut = (authorization: string, more = {}) =>
      call('/console/sign-out', { headers: { Authorization: authorization, ...more } });
    const refused = await signOut(basic('operator', 'secret'));
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Basic ')]);
    expect((await signOut(basic('signed-out', 'signed-out'))).status).toBe(204);
    // The invalid credential grants no access.
    const headers = { Authorization: basic('signed-out', 'signed-out') };
    expect((await call('/console/', { headers })).status).toBe(401);
    // A page on another site must not be able to sign the operator out.
    expect((await signOut(basic('signed-out', 'x'), { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
  });

  // The attack: a page on another site sends a form to the admin side. The browser adds the token that it remembers as
  // a Basic password, and old browsers and some requests have no Origin header.
  describe.each([
    ['Basic', `Basic ${btoa('operator:secret')}`, { loopback: false, token: 'secret' }],
    ['Bearer', 'Bearer secret', { loopback: false, token: 'secret' }],
    ['no credential on loopback', '', { loopback: true, token: undefined }],
  ] as const)('with %s', (_name, authorization, guard) => {
    const change = async (method: string, target: string, site: string | undefined) => {
      const done: string[] = [];
      const note: RequestHandler = (_req, res) => {
        done.push(target);
        res.json({});
      };
      const reload: AdminAppServices['reload'] = () => {
        done.push(target);
        return Promise.resolve({ outcome: 'applied', changed: [], warnings: [] });
      };
      const routes = [operatorRoute('/console', note), operatorRoute('/overrides', note)];
      const { call, purged } = await admin({ guard, reload }, routes);
      const headers = {
        ...(authorization !== '' && { Authorization: authorization }),
        ...(site !== undefined && { 'Sec-Fetch-Site': site }),
      };
      const { status } = await call(target, { method, headers, body: { all: true } });
      return { status, changes: done.length + purged.length };
    };
    const CHANGES = [
      ['POST', '/cache/purge'],
      ['POST', '/reload'],
      ['POST', '/overrides'],
      ['PUT', '/overrides/x'],
      ['DELETE', '/console/api/x'],
      ['PATCH', '/console/api/x'],
      ['POST', '/console/api/x'],
    ] as const;

    it.each(CHANGES)('refuses %s %s if another site requested it', async (method, target) => {
      for (const site of ['cross-site', 'same-site', 'anything'])
        expect(await change(method, target, site)).toEqual({ status: 403, changes: 0 });
    });

    it.each(CHANGES)('accepts %s %s from the console, the user and programs', async (method, target) => {
      for (const site of ['same-origin', 'none', undefined])
        expect(await change(method, target, site)).toEqual({ status: 200, changes: 1 });
    });

    it('lets a link on another site lead to a page', async () => {
      expect((await change('GET', '/console/', 'cross-site')).status).toBe(200);
    });
  });

  it('reports liveness and readiness, in responses that may not be stored', async () => {
    const { call } = await admin();
    for (const [target, status] of [
      ['/livez', 'alive'],
      ['/readyz', 'ready'],
      ['/upstreamz', 'healthy'],
    ] as const) {
      const response = await call(target);
      expect([response.status, response.json.status]).toEqual([200, status]);
      expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(response.headers).not.toHaveProperty('x-powered-by');
      expect(response.headers).not.toHaveProperty('etag');
    }
  });

  it('logs changes and refusals, pages at level debug only, and never a credential or a query', async () => {
    const { call, lines } = await admin();
    await call('/livez?token=s3cret', { headers: { Authorization: 'Bearer s3cret' } });
    await call('/cache/purge', purge({ all: true }));
    await call('/nowhere/alice');
    expect(lines.map(({ level, method, path, status, msg }) => [level, method, path, status, msg])).toEqual([
      ['debug', 'GET', '/livez', 200, 'admin request'],
      ['info', 'POST', '/cache/purge', 200, 'admin request'],
      ['info', 'GET', '/{}/{}', 404, 'admin request'],
    ]);
    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });

  it('logs the whole path of a request to a mounted router, and of one that the guard refuses', async () => {
    const router = express.Router().post('/end', (_req, res) => void res.json({}));
    const console = express.Router().use('/api/violations', express.Router().use(router));
    const words = ['api', 'violations', 'accept'];
    const { call, lines } = await admin({ guard: { loopback: true, token: 'secret' } }, [
      operatorRoute('/overrides', router, { actions: { '/end': 'override ended' } }),
      operatorRoute('/console', console, { words }),
    ]);
    const headers = { Authorization: 'Bearer secret' };
    await call('/overrides/end?by=alice', { method: 'POST', headers });
    await call('/console/api/violations/end?by=alice', { method: 'POST', headers });
    await call('/console/api/violations/alice/accept', { method: 'POST' });
    expect(lines.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['POST', '/overrides/end', 200],
      ['POST', '/console/api/violations/end', 200],
      ['POST', '/console/api/violations/{}/accept', 401],
    ]);
    expect(JSON.stringify(lines)).not.toContain('alice');
  });

  it('names the request in both lines about a failure, also in a mounted router', async () => {
    const fail = () => Promise.reject(new Error('broken'));
    const console = express.Router().use('/api', express.Router().post('/ladder/:id', fail));
    const { call, lines } = await admin({}, [
      operatorRoute('/overrides', fail),
      operatorRoute('/console', console, { words: ['api', 'ladder'] }),
    ]);
    await call('/overrides/alice', { method: 'DELETE' });
    await call('/console/api/ladder/alice?q=1', { method: 'POST' });
    expect(lines.map(({ level, method, path, msg }) => [level, method, path, msg])).toEqual(
      [
        ['DELETE', '/overrides/{}'],
        ['POST', '/console/api/ladder/{}'],
      ].flatMap((request) => [
        ['error', ...request, 'a request to the admin side failed'],
        ['error', ...request, 'admin request'],
      ]),
    );
    expect(JSON.stringify(lines)).not.toContain('alice');
  });

  it('reports why it is not ready', async () => {
    const { call } = await admin({ readiness: () => ({ ready: false, reasons: ['shutting down'] }) });
    expect(await call('/readyz')).toMatchObject({ status: 503, json: { reasons: ['shutting down'] } });
  });

  it('reports the upstream as failing with 503, and as degraded with 200', async () => {
    for (const [status, code] of [
      ['failing', 503],
      ['degraded', 200],
    ] as const) {
      const { call } = await admin({ upstreamHealth: () => ({ status, reasons: ['why'], addresses: [] }) });
      expect(await call('/upstreamz')).toMatchObject({ status: code, json: { status, reasons: ['why'] } });
      expect((await call('/readyz')).status).toBe(200);
    }
  });

  it('sends its metrics in their own media type', async () => {
    const { call } = await admin();
    const response = await call('/metrics');
    expect([response.text, response.headers['content-type']]).toEqual(['portico_up 1\n', 'text/plain; charset=utf-8']);
  });

  it('compresses its metrics for a scraper that accepts gzip', async () => {
    const { call } = await admin();
    const response = await call('/metrics', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' });
    const plain = await call('/metrics', { headers: { 'Accept-Encoding': 'gzip;q=0' } });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.text).toBe('portico_up 1\n');
  });

  it('requires no token for health and metrics, but one for the purge', async () => {
    const { call, purged } = await admin({ guard: { loopback: false, token: 'secret' } });
    for (const target of ['/livez', '/readyz', '/upstreamz', '/metrics']) expect((await call(target)).status).toBe(200);
    expect((await call('/cache/purge', purge({ all: true }))).status).toBe(401);
    expect(purged).toEqual([]);
    const headers = { Authorization: 'Bearer secret' };
    expect((await call('/cache/purge', { ...purge({ all: true }), headers })).status).toBe(200);
  });

  it('purges everything or the named tags, and reports the number of purged responses', async () => {
    const { call, purged } = await admin();
    expect((await call('/cache/purge', purge({ all: true }))).json).toEqual({ purged: 3 });
    await call('/cache/purge', purge({ tags: ['questions', 'node:17'] }));
    expect(purged).toEqual(['all', ['questions', 'node:17']]);
  });

  it.each([{}, { all: false }, { all: 'true' }, { tags: [] }, { tags: 'questions' }, { tags: ['a', 1] }, [], null])(
    'purges nothing for %j',
    async (body) => {
      const { call, purged } = await admin();
      expect((await call('/cache/purge', purge(JSON.stringify(body)))).status).toBe(400);
      expect(
        (
          await call('/cache/purge', {
            ...purge(JSON.stringify(body)),
            headers: { 'Content-Type': 'application/json' },
          })
        ).status,
      ).toBe(400);
      expect(purged).toEqual([]);
    },
  );

  it('repeats nothing from an unreadable body, and does not log client errors as failures', async () => {
    const { call, lines } = await admin();
    const headers = { 'Content-Type': 'application/json' };
    const malformed = await call('/cache/purge', { ...purge('{"secret'), headers });
    const large = await call('/cache/purge', { ...purge(JSON.stringify({ tags: ['x'.repeat(70_000)] })), headers });
    expect([malformed.status, large.status]).toEqual([400, 413]);
    expect(malformed.text).toBe('{"error":"The request cannot be read."}');
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each([undefined, 200, 500, '404'])(
    'logs its own failure without revealing details (status %s)',
    async (status) => {
      const error = Object.assign(new Error('secret'), { status });
      const { call, lines } = await admin({
        metrics: metricsWith(() => Promise.reject(error)),
      });
      const response = await call('/metrics');
      expect([response.status, response.text.includes('secret')]).toEqual([500, false]);
      expect(
        lines.filter(({ level, msg }) => level === 'error' && msg === 'a request to the admin side failed'),
      ).toHaveLength(1);
    },
  );

  it('forbids browsers to load or frame anything in any response', async () => {
    const { call } = await admin();
    const asked: [string, Call?][] = [['/livez'], ['/metrics'], ['/nowhere'], ['/%zz'], ['/cache/purge', purge({})]];
    for (const [target, one] of asked) {
      const { headers } = await call(target, one);
      expect([target, headers['content-security-policy']]).toEqual([
        target,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      ]);
    }
  });

  it('serves no other page', async () => {
    const { call } = await admin();
    const response = await call('/elsewhere');
    expect([response.status, response.json]).toEqual([404, { error: 'This page does not exist on the admin side.' }]);
    expect((await call('/cache/purge')).status).toBe(404);
  });

  it('serves the routes that it was last told to, and names the changes that they make', async () => {
    const response = (text: string) => express.Router().post('/end', (_req, res) => void res.json({ text }));
    const { call, side, actions, lines } = await admin({ guard: { loopback: true, token: 'secret' } }, [
      operatorRoute('/levels', response('first'), { actions: { '/end': 'lift' }, way: 'console' }),
      { path: '/open', access: 'anyone', handler: response('open') },
    ]);
    const headers = { Authorization: 'Bearer secret' };
    const end = async (target: string, more: Call = {}) => (await call(target, { method: 'POST', ...more })).json;
    expect(await end('/levels/end', { headers })).toEqual({ text: 'first' });
    expect(await end('/levels/end/?x=1')).toMatchObject({ error: expect.stringContaining('token') as string });
    expect(await end('/open/end')).toEqual({ text: 'open' });
    side.prepare([operatorRoute('/levels', response('second'))])();
    expect(await end('/levels/end', { headers })).toEqual({ text: 'second' });
    expect((await call('/open/end', { method: 'POST' })).status).toBe(404);
    expect(actions.map(({ action, outcome, way }) => [action, outcome, way])).toEqual([
      ['sign in', 'done', 'console'],
      ['lift', 'done', 'console'],
      ['lift', 'refused', 'console'],
      ['change', 'done', 'api'],
      ['change', 'done', 'api'],
    ]);
    expect(lines.map(({ path }) => path)).toEqual(['/levels/end', '/levels/end/', '/open/end', '/levels/{}', '/{}/{}']);
  });
});
