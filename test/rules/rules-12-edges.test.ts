import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:net';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';

const COMMENT = '/services/v2/comment/271.json';
const TOKEN = 'operator-token';
/** On a busy machine, requests can wait in the queue for longer than usual. */
const PATIENT = { queueTimeoutMs: 60_000 };
const PURGE = { method: 'POST', body: { all: true } };

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, config: { upstream: PATIENT } });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});
const portOf = (url: string) => Number(new URL(url).port);

describe('rules 12: HOST, PORT, ADMIN_HOST and ADMIN_PORT', () => {
  it('choose both sides and override the configuration file', async () => {
    const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
    const env = { HOST: '127.0.0.2', PORT, ADMIN_HOST: '127.0.0.3', ADMIN_PORT };
    const chosen = await startTestGateway({ upstream: fake, env });
    expect([chosen.url, chosen.adminUrl]).toEqual([`http://127.0.0.2:${PORT}`, `http://127.0.0.3:${ADMIN_PORT}`]);
    expect((await chosen.call(COMMENT)).status).toBe(200);
    expect((await chosen.admin('/livez')).status).toBe(200);
  });
  it('both default to 127.0.0.1', () => {
    expect([gateway.url, gateway.adminUrl].map((url) => new URL(url).hostname)).toEqual(['127.0.0.1', '127.0.0.1']);
  });
  it('reject an invalid port with a configuration error at startup', async () => {
    await expect(startTestGateway({ upstream: fake, env: { PORT: 'http' } })).rejects.toMatchObject({
      faults: [{ source: 'PORT' }],
    });
  });
  it('separate the admin side completely from the public side', async () => {
    expect((await gateway.admin(COMMENT)).status).toBe(404);
    for (const page of ['/livez', '/readyz', '/metrics', '/cache/purge'])
      expectError(await gateway.call(page), 404, 'not_in_contract');
    expect(fake.requests).toEqual([]);
  });
});

describe('rules 12: livez, readyz, upstreamz and metrics need no token', () => {
  let guarded: TestGateway;
  beforeAll(async () => {
    guarded = await startTestGateway({ upstream: fake, config: { adminToken: TOKEN } });
  });
  it.each(['/livez', '/readyz', '/upstreamz', '/metrics'])('%s, with a configured token and any Host', async (page) => {
    for (const one of [gateway, guarded])
      for (const Host of ['127.0.0.1', 'portico.internal'])
        expect((await one.admin(page, { headers: { Host } })).status).toBe(200);
  });
  it('upstreamz returns 503 with a reason while upstream calls are paused, and readyz still returns 200', async () => {
    const broken = await startFakeUpstream((_request, response) => void response.socket?.destroy());
    const config = { upstream: { circuit: { failures: 1, openSeconds: 60 } } };
    const paused = await startTestGateway({ upstream: broken, config });
    const healthy = await paused.admin('/upstreamz');
    expect([healthy.status, healthy.json.status, await paused.metric('portico_upstream_healthy')]).toEqual([
      200,
      'healthy',
      1,
    ]);
    await paused.call(COMMENT);
    const { status, json, text } = await paused.admin('/upstreamz');
    expect([status, json.status, json.reasons]).toEqual([
      503,
      'failing',
      ['requests keep failing, so they are paused'],
    ]);
    expect(json).toMatchObject({ addresses: [{ address: new URL(broken.url).host, state: 'healthy' }] });
    expect(text).not.toContain('http://');
    expect(await paused.metric('portico_upstream_healthy')).toBe(0);
    // If Portico were not ready, a load balancer would take every replica out of service, even though the replicas
    // could still serve their stored responses.
    expect(await paused.admin('/readyz')).toMatchObject({ status: 200, json: { reasons: [] } });
    expect((await paused.admin('/livez')).status).toBe(200);
    expect(await paused.metric('portico_ready')).toBe(1);
  });
});

describe('rules 12: purge', () => {
  it('needs no token on loopback, and drops the stored responses', async () => {
    const questions = '/services/v2/question.json';
    await gateway.call(questions);
    await gateway.call(questions);
    expect(fake.requests).toHaveLength(1);
    expect((await gateway.admin('/cache/purge', PURGE)).status).toBe(200);
    await gateway.call(questions);
    expect(fake.requests).toHaveLength(2);
  });
  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1'])(
    'is refused on loopback under the name %s, which a foreign page may use',
    async (Host) => {
      expect((await gateway.admin('/cache/purge', { ...PURGE, headers: { Host } })).status).toBe(403);
    },
  );
  it.each(['http://evil.example', 'null', 'http://127.0.0.1:1'])('is refused for a page from %s', async (Origin) => {
    expect((await gateway.admin('/cache/purge', { ...PURGE, headers: { Origin } })).status).toBe(403);
  });
  it("is permitted for one of the console's own pages", async () => {
    expect((await gateway.admin('/cache/purge', { ...PURGE, headers: { Origin: gateway.adminUrl } })).status).toBe(200);
  });
  it('needs the token if one is configured', async () => {
    const guarded = await startTestGateway({ upstream: fake, env: { PORTICO_ADMIN_TOKEN: TOKEN } });
    const purge = (Authorization?: string) =>
      guarded.admin('/cache/purge', { ...PURGE, headers: Authorization === undefined ? {} : { Authorization } });
    for (const wrong of [undefined, 'Bearer x', `Bearer ${TOKEN}x`, TOKEN, basic('admin')])
      expect((await purge(wrong)).status).toBe(401);
    expect((await purge(`Bearer ${TOKEN}`)).status).toBe(200);
  });
  it('is denied without a token if the admin side is not on loopback', async () => {
    const config = { listen: { adminHost: '0.0.0.0' } };
    const open = await startTestGateway({ upstream: fake, config });
    const adminUrl = `http://127.0.0.1:${portOf(open.adminUrl)}`;
    const reply = await fetch(`${adminUrl}/cache/purge`, {
      method: 'POST',
      body: '{"all":true}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(reply.status).toBe(403);
    expect((await fetch(`${adminUrl}/livez`)).status).toBe(200);
  });
});

describe('rules 12: publicBasePath', () => {
  it('precedes /services/v2/ in requests, and all other paths are refused', async () => {
    const based = await startTestGateway({ upstream: fake, config: { publicBasePath: '/qa' } });
    expect((await based.call(`/qa${COMMENT}`)).status).toBe(200);
    expect(fake.requests.map(({ target }) => target)).toEqual([COMMENT]);
    for (const target of [COMMENT, `/qaa${COMMENT}`, `/QA${COMMENT}`, '/qa', '/'])
      expectError(await based.call(target), 404, 'not_in_contract');
  });
  it.each(['qa', '/qa/', '/services/v2', '/a//b'])('is rejected at startup with %s', async (publicBasePath) => {
    await expect(startTestGateway({ upstream: fake, config: { publicBasePath } })).rejects.toMatchObject({
      faults: [{ pointer: '/publicBasePath' }],
    });
  });
});

describe('rules 12: client connections', () => {
  it("are kept open longer than a balancer's 60 s", async () => {
    const client = await connectRaw(portOf(gateway.url));
    client.send(`GET ${COMMENT} HTTP/1.1`, 'Host: x', `Authorization: ${basic('alice')}`, '', '');
    const [, seconds] = /keep-alive: timeout=(\d+)/i.exec(await client.until(/\}$/)) ?? [];
    client.socket.destroy();
    expect(Number(seconds)).toBeGreaterThan(60);
  });
  it('serve more than one request', async () => {
    const client = await connectRaw(portOf(gateway.url));
    const request = [`GET ${COMMENT} HTTP/1.1`, 'Host: x', `Authorization: ${basic('alice')}`, '', ''];
    client.send(...request);
    await client.until(/\}$/);
    client.send(...request);
    await client.until((text) => text.split('HTTP/1.1 200 OK').length === 3 && text.endsWith('}'));
    client.socket.destroy();
    expect(fake.requests).toHaveLength(2);
  });
});

describe('rules 12: the concurrency limit for the upstream', () => {
  it('admits 32 requests at once, and the others wait in a short queue', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.handler = (request) => promise.then(() => exampleResponse(request));
    const calls = Array.from({ length: 40 }, (_, at) => gateway.call(`/services/v2/comment/${at + 1}.json`));
    await fake.received(32);
    await until(() => gateway.gateway.services.upstream.stats().queued === 8);
    expect(fake.requests).toHaveLength(32);
    resolve();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(fake.requests).toHaveLength(40);
  });
  it('sheds requests beyond the queue', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.handler = (request) => promise.then(() => exampleResponse(request));
    const narrow = await startTestGateway({
      upstream: fake,
      config: { upstream: { ...PATIENT, concurrency: 1, queue: 1 } },
    });
    const calls = [narrow.call('/services/v2/comment/1.json')];
    await fake.received(1);
    calls.push(narrow.call('/services/v2/comment/2.json'));
    await until(() => narrow.gateway.services.upstream.stats().queued === 1);
    expectError(await narrow.call('/services/v2/comment/3.json'), 503, 'upstream_overloaded');
    resolve();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('rules 12: a drain', () => {
  it('lets requests in flight finish, asks their clients to disconnect and accepts no new connection', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.handler = (request) => promise.then(() => exampleResponse(request));
    const leaving = await startTestGateway({ upstream: fake, config: { listen: { drainSeconds: 60 } } });
    const client = await connectRaw(portOf(leaving.url));
    client.send(`GET ${COMMENT} HTTP/1.1`, 'Host: x', `Authorization: ${basic('alice')}`, '', '');
    await fake.received(1);
    const closed = leaving.close();
    // Clients whose connections the operating system has already accepted are still served, so new connections are
    // refused only after a moment. Without pauses between the test's attempts, this would take longer.
    let code: string | undefined;
    while (code !== 'ECONNREFUSED') {
      await pause(20);
      const late = connect(portOf(leaving.url), '127.0.0.1');
      const [refused] = (await Promise.race([once(late, 'connect'), once(late, 'error')]).catch((error: unknown) => [
        error,
      ])) as [NodeJS.ErrnoException?];
      late.destroy();
      code = refused?.code;
    }
    resolve();
    await closed;
    expect(await client.closed).toBe(false);
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i);
    expect(client.received()).toMatch(/\}$/);
  });
});
