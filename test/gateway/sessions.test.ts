import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeRequest, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';

/**
 * Starts a gateway before a server that, like a servlet container, starts a session for every request that comes
 * without one. `sessions` maps the id of each session to the user who started it.
 */
async function start(options: Partial<TestGatewayOptions> = {}, more = { attributes: '; Path=/; HttpOnly' }) {
  const sessions = new Map<string, string | undefined>();
  const given: FakeRequest[] = [];
  const withSession = (request: FakeRequest, response: ServerResponse) => {
    const id = /(?:^|; )JSESSIONID=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
    given.push(request);
    if (id !== undefined && sessions.has(id)) return;
    const next = `session-${sessions.size}-0123456789`;
    sessions.set(next, request.user);
    response.setHeader('Set-Cookie', `JSESSIONID=${next}${more.attributes}`);
  };
  const respond = knowing();
  const upstream = await startFakeUpstream((request, response) => {
    withSession(request, response);
    return respond(request, response);
  });
  const gateway = await startTestGateway({ upstream, ...options });
  return { gateway, sessions, upstream, given };
}

const UNCACHED = { cache: { enabled: false } };
const PASSED = { undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] } };

describe('a caller', () => {
  it.each(['staging', 'strict'])('has one session for 50 requests in %s mode, and the page is stored', async (mode) => {
    const config = { mode, cache: { freshSeconds: 0, staleWhileRevalidateSeconds: 0 } };
    const { gateway, sessions, given } = await start({ config, real: true });
    for (let count = 0; count < 50; count += 1) {
      const reply = await gateway.call(`${LIST}?q=word${count}`);
      expect(reply.headers['set-cookie']).toBeUndefined();
      expect(reply.headers['cache-status']).toBe('portico; fwd=miss; stored');
    }
    expect([...sessions.values()].filter((user) => user === 'admin')).toHaveLength(1);
    expect(given.filter(({ user }) => user === 'admin').length).toBeGreaterThanOrEqual(50);
  });

  it('has one session for documented and other paths, with and without a body', async () => {
    const { gateway, sessions, given } = await start({ config: { ...UNCACHED, ...PASSED } });
    const ask = [
      () => gateway.call(LIST),
      () => gateway.call('/services/v2/odd.json'),
      () => gateway.call('/services/v2/odd.json', { method: 'POST', body: { a: 1 } }),
    ];
    for (const call of [...ask, ...ask]) expect((await call()).headers['set-cookie']).toBeUndefined();
    expect(given).toHaveLength(6);
    expect([...sessions.values()]).toEqual(['admin']);
  });

  it('never receives the session of another', async () => {
    const { gateway, sessions, given } = await start({ config: UNCACHED });
    for (const user of ['admin', 'alice', 'admin', 'alice']) await gateway.call(LIST, { user });
    expect([...sessions.values()]).toEqual(['admin', 'alice']);
    for (const { user, headers } of given) {
      const id = /JSESSIONID=(.*)/.exec(headers.cookie ?? '')?.[1];
      if (id !== undefined) expect(sessions.get(id)).toBe(user);
    }
  });

  it('cannot choose a session', async () => {
    const { gateway, given } = await start({ config: { ...UNCACHED, ...PASSED } });
    await gateway.call(LIST, { user: 'alice' });
    const headers = { Cookie: 'JSESSIONID=session-0-0123456789; theme=dark' };
    for (const call of [{}, { method: 'POST', body: 'x' }])
      await gateway.call('/services/v2/odd.json', { headers, ...call });
    expect(given.slice(1).map((request) => request.headers.cookie)).toEqual([
      'theme=dark',
      expect.stringMatching(/^theme=dark; JSESSIONID=session-1-/),
    ]);
  });

  it('without a credential shares no session, and its pages are stored', async () => {
    const config = { authentication: { anonymous: 'allow' } };
    const { gateway, given } = await start({ config });
    const first = await gateway.call(`${LIST}?page=1`, { user: null });
    await gateway.call(`${LIST}?page=2`, { user: null });
    expect(first.headers).toMatchObject({ 'cache-status': 'portico; fwd=miss; stored' });
    expect(first.headers['set-cookie']).toBeUndefined();
    expect(given.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  it('keeps its session over a reload, unless the names change', async () => {
    const { gateway, sessions } = await start({ config: UNCACHED });
    await gateway.call(LIST);
    await gateway.reload({ config: { ...UNCACHED, upstream: { concurrency: 5 } } });
    await gateway.call(LIST);
    expect(sessions.size).toBe(1);
    await gateway.reload({ config: { ...UNCACHED, upstream: { sessionCookies: ['JSESSIONID', 'OTHER'] } } });
    await gateway.call(LIST);
    expect(sessions.size).toBe(2);
  });

  it('begins a new session when the upstream refuses the credential, but not when a permission is missing', async () => {
    const { gateway, upstream, given, sessions } = await start({ config: UNCACHED });
    const { handler } = upstream;
    await gateway.call(LIST);
    const respondWith = async (error: string) => {
      upstream.handler = (request, response) => (handler(request, response), { status: 401, json: { error } });
      await gateway.call(LIST);
      upstream.handler = handler;
      await gateway.call(LIST);
      return [given.length, sessions.size];
    };
    expect(await respondWith('You do not have permission to view this.')).toEqual([3, 1]);
    expect(await respondWith('Bad credentials')).toEqual([5, 2]);
  });
});

describe('the probe of the upstream verifier', () => {
  it('tests the credential, never the session', async () => {
    const { gateway, given } = await start({
      config: { mode: 'strict', ...UNCACHED, authentication: { cacheSeconds: 0 } },
      real: true,
    });
    for (let count = 0; count < 3; count += 1) await gateway.call(LIST);
    const probes = given.filter(({ path }) => path === PROBE);
    expect(probes.length).toBeGreaterThanOrEqual(3);
    for (const { headers } of probes) expect(headers.cookie).toBeUndefined();
    const cookies = given.filter(({ path }) => path === LIST).map(({ headers }) => headers.cookie);
    expect(new Set(cookies).size).toBe(1);
    expect(cookies[0]).toContain('JSESSIONID=');
  });
});

describe('the session of a service account', () => {
  const config = { upstream: { credentials: { kind: 'service', username: 'robot', password: 'robot' } } };

  it('is one for all callers', async () => {
    const { gateway, sessions } = await start({ config: { ...UNCACHED, ...config } });
    for (const user of ['admin', 'alice', 'bob']) await gateway.call('/services/v2/idea.json', { user });
    expect([...sessions.values()]).toEqual(['robot']);
  });

  it('is never shown to a caller, for example in rewritten links', async () => {
    const { gateway, upstream, sessions } = await start({ config: { ...UNCACHED, ...config } });
    const { handler } = upstream;
    upstream.handler = (request, response) => {
      void handler(request, response);
      const [id] = sessions.keys();
      return {
        ...exampleResponse(request),
        headers: { 'Content-Type': 'application/json', Link: `</a;jsessionid=${id}>` },
      };
    };
    const reply = await gateway.call('/services/v2/idea.json');
    expect(reply.json).toMatchObject({ code: 'upstream_invalid_response' });
    expect(JSON.stringify(reply.headers) + reply.text).not.toContain('session-0');
  });
});

it('observe forwards cookies in both directions', async () => {
  const { gateway, given } = await start({ real: true });
  const reply = await gateway.call(LIST, { headers: { Cookie: 'JSESSIONID=mine' } });
  expect(reply.headers['set-cookie']).toEqual(['JSESSIONID=session-0-0123456789; Path=/; HttpOnly']);
  expect(given[0]?.headers.cookie).toBe('JSESSIONID=mine');
});

it('the reason why a page is not stored is in Cache-Status and in the metrics, and a session never is', async () => {
  const { gateway, upstream } = await start();
  const { handler } = upstream;
  upstream.handler = (request, response) => {
    const usual = handler(request, response);
    response.setHeader('Set-Cookie', ['JSESSIONID=secret-0123456789; Path=/', 'tracking=secret-1; Path=/']);
    return usual;
  };
  const reply = await gateway.call(LIST);
  expect(reply.headers['cache-status']).toBe('portico; fwd=miss; detail=set-cookie');
  upstream.handler = () => ({ status: 500, json: { error: 'x' } });
  const failed = await gateway.call(`${LIST}?page=2`);
  expect([failed.status, failed.headers['cache-status']]).toEqual([502, 'portico; fwd=miss; detail=status']);
  const count = (reason: string) =>
    gateway.metric(`portico_cache_not_stored_total{operation="listQuestions",reason="${reason}"}`);
  expect([await count('set-cookie'), await count('status'), await count('vary')]).toEqual([1, 1, 0]);
  const { text } = await gateway.admin('/metrics');
  expect(gateway.log.join('') + text + JSON.stringify([reply.headers, failed.headers])).not.toMatch(/secret-\d/);
});
