import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type Express } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { createPortico, type Portico, type PorticoConfig, StartFault } from '../src/portico.ts';
import { basic, callAt } from './builders/call.ts';
import { type FakeUpstream, startFakeUpstream } from './builders/fake-upstream.ts';
import { exampleResponse } from './builders/example-response.ts';
import { knowing } from './builders/knowing-upstream.ts';
import { talk } from './engine/http/serve.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const QUESTIONS = '/services/v2/question.json';

async function mounted(config: PorticoConfig, upstream: FakeUpstream, mount: (app: Express, portico: Portico) => void) {
  const lines: string[] = [];
  const portico = await createPortico(
    {
      ledger: { file: ':memory:' },
      levels: { file: ':memory:' },
      upstream: { startupProbe: false },
      ...config,
    },
    {
      env: { UPSTREAM_URL: upstream.url },
      cwd: mkdtempSync(join(tmpdir(), 'portico-')),
      logStream: { write: (line) => void lines.push(line) },
    },
  );
  open.push(portico);
  const app = express();
  mount(app, portico);
  const url = await listening(createServer(app));
  return { url, portico, lines };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const besideHello = (app: Express, portico: Portico) => {
  app.get('/hello', (_req, res) => void res.json({ hello: 'world' }));
  app.use(portico);
};

describe('createPortico', () => {
  it('serves documented requests beside another route of the same Express app', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { url } = await mounted({ mode: 'observe' }, upstream, besideHello);
    expect(await callAt(url, '/hello')).toMatchObject({ status: 200, json: { hello: 'world' } });
    const questions = await callAt(url, QUESTIONS, { headers: { Authorization: basic('alice') } });
    expect(questions).toMatchObject({ status: 200, headers: { via: '1.1 portico' } });
    expect(upstream.requests.map(({ target }) => target)).toContain(QUESTIONS);
  });

  it('uses another configuration after a reload, unless it has errors', async () => {
    const upstream = await startFakeUpstream(knowing(exampleResponse));
    const { url, portico } = await mounted({ mode: 'strict' }, upstream, besideHello);
    const config = (more: PorticoConfig): PorticoConfig => ({
      mode: 'strict',
      ledger: { file: ':memory:' },
      levels: { file: ':memory:' },
      upstream: { startupProbe: false },
      ...more,
    });
    const status = async () => (await callAt(url, `${QUESTIONS}?pageSize=50`, { user: 'alice' })).status;
    expect(await status()).toBe(200);
    await expect(portico.reload(config({ pageBounds: { maxPageSize: 0 } }))).rejects.toThrow('/pageBounds/maxPageSize');
    expect(await status()).toBe(200);
    expect(await portico.reload(config({ pageBounds: { maxPageSize: 10 } }))).toEqual(['pageBounds.maxPageSize']);
    expect(await status()).toBe(400);
    expect(await portico.reload()).toEqual([]);
    expect(await status()).toBe(400);
    const enforced = portico.plans;
    await portico.reload(config({ mode: 'observe' }));
    expect(portico.plans).toHaveLength(enforced.length);
    expect(portico.plans).not.toEqual(enforced);
  });

  it('applies the checks that it has with its own listeners', async () => {
    const upstream = await startFakeUpstream(knowing(exampleResponse));
    const { url } = await mounted({ mode: 'strict' }, upstream, besideHello);
    expect(await callAt(url, QUESTIONS, { user: null })).toMatchObject({
      status: 401,
      json: { code: 'credentials_required' },
    });
    expect(await callAt(url, '/services/v2/elsewhere.json', { user: null })).toMatchObject({ status: 401 });
  });

  // An application's own listener does not check request heads the way Portico's does. Node itself accepts two Host
  // headers and uses the first.
  it("refuses ambiguous requests on the application's listener", async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { url } = await mounted({ mode: 'observe' }, upstream, besideHello);
    const port = Number(new URL(url).port);
    const twice = talk(port, `GET ${QUESTIONS} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`);
    expect(await twice.heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(upstream.requests.filter(({ target }) => target === QUESTIONS)).toEqual([]);
  });

  it('works under a path of the application, whose prefix the upstream does not see', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { url } = await mounted({ mode: 'observe' }, upstream, (app, portico) => void app.use('/qa', portico));
    expect((await callAt(url, `/qa${QUESTIONS}`)).status).toBe(200);
    expect(upstream.requests.map(({ target }) => target)).toContain(QUESTIONS);
    expect((await callAt(url, QUESTIONS)).status).toBe(404);
  });

  it('reports that it is mounted after a body parser instead of forwarding an empty body', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { url } = await mounted({ mode: 'observe' }, upstream, (app, portico) => {
      app.use(express.json());
      app.use(portico);
      app.use((error: Error, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
        res.status(500).send(error.message);
      });
    });
    const response = await callAt(url, '/services/v2/users/gdpr/upload.json', {
      method: 'POST',
      body: { content: 'x' },
    });
    expect([response.status, response.text]).toEqual([
      500,
      'The request body has already been read: mount Portico before any body parser.',
    ]);
    expect(upstream.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('returns the admin side as a separate app, and the plans', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { portico } = await mounted({ mode: 'observe' }, upstream, besideHello);
    const admin = await listening(createServer(portico.admin));
    expect((await callAt(admin, '/livez')).status).toBe(200);
    expect((await callAt(admin, '/metrics')).text).toContain('portico_http_requests_total');
    expect(portico.plans.some((line) => line.includes(QUESTIONS))).toBe(true);
  });

  it('throws all configuration errors at once, and one for a missing upstream', async () => {
    const wrong = { mode: 'lenient', listen: { port: -1 } } as unknown as PorticoConfig;
    const faults = await createPortico(wrong, { env: {} }).catch((error: unknown) => error);
    expect(faults).toBeInstanceOf(StartFault);
    expect((faults as StartFault).faults.map(({ pointer }) => pointer)).toEqual(['/mode', '/listen/port']);
    await expect(createPortico({}, { env: {} })).rejects.toThrow('/upstream/url');
  });
});
