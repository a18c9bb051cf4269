import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText, htmlPage } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { EXAMPLE_IDS, OPERATIONS, type OperationCase, targetOf } from '../builders/operations.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const COMMENT = '/services/v2/comment/271.json';
const QUESTIONS = '/services/v2/question.json';
const CHALLENGE = 'Basic realm="Portico", charset="UTF-8"';
const SERVICE = { kind: 'service', username: 'robot', password: 'robot-secret' };

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake });
});
beforeEach(async () => {
  await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

function send(one: TestGateway, operation: OperationCase, user: string | null, headers: Record<string, string> = {}) {
  const { method, body } = operation;
  const ids = { ...EXAMPLE_IDS, comment: '272' };
  return one.call(targetOf(operation, '', ids), {
    method,
    user,
    headers: { 'Portico-Force': 'true', ...headers },
    ...(body !== undefined && { body }),
  });
}

/**
 * Sets the upstream's response to a probe with a valid credential. A probe with any other credential receives a 401.
 */
const probeSays = (given: FakeResponse) => {
  fake.handler = knowing(exampleResponse, given);
};

describe('rules 2: anonymous callers', () => {
  it('are denied by default: 401 with a challenge, and nothing is sent upstream', async () => {
    for (const operation of OPERATIONS) {
      const got = await send(gateway, operation, null);
      expectError(got, 401, 'credentials_required');
      expect(got.headers['www-authenticate']).toBe(CHALLENGE);
    }
    expect(fake.requests).toHaveLength(0);
  });

  describe('allow', () => {
    let open: TestGateway;
    beforeAll(async () => {
      open = await startTestGateway({ upstream: fake, config: { authentication: { anonymous: 'allow' } } });
    });

    it.each(OPERATIONS.filter(({ needsCredential }) => needsCredential))(
      '$id still requires a credential',
      async (operation) => {
        expectError(await send(open, operation, null), 401, 'credentials_required');
        expect(fake.requests).toHaveLength(0);
      },
    );

    it.each(OPERATIONS.filter(({ needsCredential, allowed }) => !needsCredential && allowed === 'guest'))(
      '$id is permitted by the role anonymous, and no credential is sent upstream',
      async (operation) => {
        expect((await send(open, operation, null)).status).toBe(200);
        expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
      },
    );

    it('a denied caller gets 401 without a credential, and 403 with a valid one', async () => {
      const ideas = '/services/v2/idea.json';
      const nobody = await open.call(ideas, { user: null });
      expectError(nobody, 401, 'credentials_required');
      expect(nobody.headers['www-authenticate']).toBe(CHALLENGE);
      expectError(await open.call(ideas, { user: 'guest' }), 403, 'permission_denied');
    });

    it('a wrong credential is never treated as a missing one', async () => {
      expectError(await open.call(QUESTIONS, { user: 'alice', password: 'x' }), 401, 'credentials_refused');
    });
  });
});

describe('rules 2: a header without a usable Basic credential gets 401', () => {
  it.each([
    'Bearer abc',
    'Basic',
    'Basic !!!',
    `Basic ${Buffer.from('no-colon').toString('base64')}`,
    `Basic ${'A'.repeat(9000)}`,
  ])('%s', async (authorization) => {
    const got = await gateway.call(QUESTIONS, { user: null, headers: { Authorization: authorization } });
    expectError(got, 401, 'credentials_refused');
  });
});

describe('rules 2: an unverified principal (`authentication: report`)', () => {
  it('passes with its own header, and does not share its responses', async () => {
    const config = { mode: 'staging', checks: { authentication: 'report' }, roles: { unmapped: 'standard' } };
    const lenient = await startTestGateway({ upstream: fake, config });
    fake.handler = ({ user, password }) => {
      const page = exampleOf('listQuestions');
      page.list[0]['title'] = `${user}:${password}`;
      return { json: page };
    };
    const titles = [];
    for (const password of ['alice', 'wrong', 'worse', 'alice', 'wrong'])
      titles.push((await lenient.call(QUESTIONS, { user: 'alice', password })).json.list[0].title);
    expect(titles).toEqual(['alice:alice', 'alice:wrong', 'alice:worse', 'alice:alice', 'alice:wrong']);
    expect(fake.requests).toHaveLength(3);
  });
});

describe('rules 2: verifier file', () => {
  it('verifies the accounts of the roles file by their argon2id hashes', async () => {
    expect((await gateway.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
    for (const [user, password] of [
      ['alice', 'bob'],
      ['alice', ''],
      ['Alice', 'alice'],
      ['zoe', 'zoe'],
    ] as const)
      expectError(await gateway.call(QUESTIONS, { user, password }), 401, 'credentials_refused');
    expect(fake.requests.filter(({ path }) => path === PROBE)).toHaveLength(0);
  });
});

describe('rules 2: verifier upstream', () => {
  const config = { mode: 'strict', authentication: { cacheSeconds: 0 } };
  let real: TestGateway;
  beforeAll(async () => {
    fake.handler = knowing();
    real = await startTestGateway({ upstream: fake, real: true, config });
  });

  it.each([200, 400, 404])('the credential is accepted if the probe returns %i', async (status) => {
    probeSays({ status });
    expect((await real.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
    expect(fake.requests[0]).toMatchObject({ method: 'GET', target: PROBE, user: 'alice', password: 'alice' });
  });

  it.each([
    { status: 401 },
    { status: 403 },
    { status: 302, headers: { Location: '/login' } },
    { status: 204 },
    { status: 418 },
    htmlPage(401),
  ])('the credential is refused if the probe returns $status', async (given) => {
    probeSays(given);
    expectError(await real.call(QUESTIONS, { user: 'alice' }), 401, 'credentials_refused');
  });

  it.each([{ status: 500 }, { status: 503 }, { status: 429 }])(
    '$status decides nothing about the credential: 503, never 401',
    async (given) => {
      probeSays(given);
      expectError(await real.call(QUESTIONS, { user: 'bob' }), 503, 'verification_unavailable');
    },
  );

  it('a transport failure returns 503 with Retry-After, never 401', async () => {
    fake.handler = (_request, response) => void response.socket?.destroy();
    const got = await real.call(QUESTIONS, { user: 'bob' });
    expectError(got, 503, 'verification_unavailable');
    expect(Number(got.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('the probe and its statuses can be configured', async () => {
    const probe = { path: '/services/v2/user/me.json', validStatuses: [204] };
    fake.handler = ({ path, user }) => ({ status: path !== probe.path ? 404 : user === 'alice' ? 204 : 200 });
    const other = await startTestGateway({
      upstream: fake,
      real: true,
      config: { mode: 'strict', authentication: { probe } },
    });
    expectError(await other.call(COMMENT, { user: 'bob' }), 401, 'credentials_refused');
    expectError(await other.call(COMMENT, { user: 'alice' }), 404, 'upstream_not_found');
  });
});

describe('rules 2: calibration', () => {
  const clock = createTestClock();
  const start = () => startTestGateway({ upstream: fake, real: true, clock, config: { mode: 'strict' } });

  it('tries a random wrong credential at startup', async () => {
    fake.handler = knowing();
    await start();
    await start();
    const [one, other] = fake.requests;
    expect([one?.target, other?.target, fake.requests.length]).toEqual([PROBE, PROBE, 2]);
    expect(one?.user).toMatch(/^[\w-]{16,}$/);
    expect(new Set([one?.user, one?.password, other?.user, other?.password]).size).toBe(4);
  });

  it('a probe that accepts it is a configuration error at startup', async () => {
    fake.handler = () => ({ status: 404 });
    await expect(start()).rejects.toMatchObject({ faults: [{ pointer: '/authentication/probe' }] });
  });

  it('a verifier that becomes unusable later accepts no credential, not even verified ones', async () => {
    fake.handler = knowing();
    const real = await start();
    expect((await real.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
    fake.handler = (request) => (request.path === PROBE ? { status: 200 } : exampleResponse(request));
    clock.advance(301);
    expectError(await real.call(QUESTIONS, { user: 'mallory' }), 503, 'verification_unavailable');
    expectError(await real.call(QUESTIONS, { user: 'alice' }), 503, 'verification_unavailable');
    fake.handler = knowing();
    clock.advance(301);
    expect((await real.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
  });

  it('an upstream that does not respond leaves the gateway not ready, and no request is decided', async () => {
    fake.handler = (_request, response) => void response.socket?.destroy();
    const real = await start();
    expect((await real.admin('/readyz')).status).toBe(503);
    expect((await real.admin('/livez')).status).toBe(200);
    expectError(await real.call(QUESTIONS, { user: 'alice' }), 503, 'verification_unavailable');
    fake.handler = knowing();
    expect((await real.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
    // This gateway would repeat its calibration during later tests, which expect only their own requests.
    await real.close();
  });
});

describe('rules 2: failed attempts', () => {
  it('are limited per pair of address and name, and a verified credential is never blocked', async () => {
    const clock = createTestClock();
    const failures = { limit: 3, windowSeconds: 60 };
    const config = { listen: { trustedProxies: ['loopback'] }, authentication: { failures } };
    const limited = await startTestGateway({ upstream: fake, clock, config });
    const attempt = (password: string, user = 'alice', address = '203.0.113.9') =>
      limited.call(QUESTIONS, { user, password, headers: { 'X-Forwarded-For': address } });
    expect((await attempt('alice')).status).toBe(200);
    for (const password of ['a', 'b', 'c']) expectError(await attempt(password), 401, 'credentials_refused');
    const blocked = await attempt('d');
    expectError(blocked, 429, 'too_many_attempts');
    expect(blocked.headers['retry-after']).toBe('60');
    expect((await attempt('alice')).status).toBe(200);
    clock.advance(59);
    expectError(await attempt('d'), 429, 'too_many_attempts');
    expect((await attempt('d', 'bob')).status).toBe(401);
    expect((await attempt('d', 'alice', '203.0.113.10')).status).toBe(401);
    clock.advance(1);
    expect((await attempt('alice')).status).toBe(200);
    expectError(await attempt('d'), 401, 'credentials_refused');
  });

  it('include those of a valid credential that was never verified, so that guessing cannot continue', async () => {
    const limited = await startTestGateway({ upstream: fake, config: { authentication: { failures: { limit: 1 } } } });
    await limited.call(QUESTIONS, { user: 'alice', password: 'x' });
    expectError(await limited.call(QUESTIONS, { user: 'alice' }), 429, 'too_many_attempts');
  });
});

describe('rules 2: credentials for the upstream', () => {
  it.each(OPERATIONS)("forward: the caller's own credential, on $id", async (operation) => {
    fake.handler = (request) =>
      request.method === operation.method
        ? exampleResponse(request)
        : { json: { author: { username: operation.allowed } } };
    await send(gateway, operation, operation.allowed);
    expect(fake.requests.length).toBeGreaterThan(0);
    for (const { user, password } of fake.requests)
      expect([user, password]).toEqual([operation.allowed, operation.allowed]);
  });

  describe('service', () => {
    const allow = [{ method: 'GET', path: '/services/v2/space.json' }];
    let service: TestGateway;
    beforeAll(async () => {
      const config = {
        upstream: { credentials: SERVICE },
        undocumented: { allow },
        authentication: { anonymous: 'allow' },
      };
      service = await startTestGateway({ upstream: fake, config });
    });
    it.each(OPERATIONS)('is used only on operations that do not depend on identity: $id', async (operation) => {
      fake.handler = (request) =>
        request.method === operation.method
          ? exampleResponse(request)
          : { json: { author: { username: operation.allowed } } };
      await send(service, operation, operation.allowed);
      const expected = operation.isIndependent === true ? 'robot' : operation.allowed;
      expect(new Set(fake.requests.map(({ user }) => user))).toEqual(new Set([expected]));
    });

    it.each(['getComment', 'listNodeComments', 'listAnswerComments'])(
      '%s without a credential gets 501',
      async (id) => {
        const operation = OPERATIONS.find((one) => one.id === id) as OperationCase;
        expectError(await send(service, operation, null), 501, 'needs_caller_credential');
        expect(fake.requests).toHaveLength(0);
      },
    );

    it("undocumented requests carry the caller's own, and get 501 without one", async () => {
      expect((await service.call('/services/v2/space.json', { user: 'bob' })).status).toBe(404);
      expect(fake.requests.map(({ user }) => user)).toEqual(['bob']);
      expectError(await service.call('/services/v2/space.json', { user: null }), 501, 'needs_caller_credential');
    });

    it.each(['authentication', 'permissions'])(
      'with %s below the `enforce` level is a configuration error at startup',
      async (check) => {
        for (const level of ['off', 'report']) {
          const config = { upstream: { credentials: SERVICE }, checks: { [check]: level } };
          await expect(startTestGateway({ upstream: fake, config })).rejects.toMatchObject({
            faults: [{ pointer: `/checks/${check}` }],
          });
          const operations = { listIdeas: { checks: { [check]: level } } };
          const one = startTestGateway({ upstream: fake, config: { upstream: { credentials: SERVICE }, operations } });
          await expect(one).rejects.toMatchObject({ faults: [{ pointer: `/operations/listIdeas/checks/${check}` }] });
        }
      },
    );

    it('never replaces the credential of a caller whom only the upstream can check', async () => {
      const config = { upstream: { credentials: SERVICE }, mode: 'strict' };
      fake.handler = knowing();
      const delegating = await startTestGateway({ upstream: fake, real: true, config });
      fake.requests.length = 0;
      expect((await delegating.call(QUESTIONS, { user: 'unmapped' })).status).toBe(200);
      expect(fake.requests.filter(({ path }) => path === QUESTIONS).map(({ user }) => user)).toEqual(['unmapped']);
    });
  });
});

describe('rules 2: the upstream request of a documented operation is built from an allowlist', () => {
  const evil = {
    Cookie: 'JSESSIONID=stolen',
    'X-Auth-Token': 'token',
    'X-HTTP-Method-Override': 'DELETE',
    'X-HTTP-Method': 'DELETE',
    'X-Method-Override': 'DELETE',
    Range: 'bytes=0-1',
    'If-Range': '"x"',
    'If-Match': '"x"',
    'If-None-Match': '"x"',
    'If-Modified-Since': 'Wed, 21 Oct 2015 07:28:00 GMT',
    'If-Unmodified-Since': 'Wed, 21 Oct 2015 07:28:00 GMT',
    'Proxy-Authorization': 'Basic eDp5',
    'X-Forwarded-For': '198.51.100.1',
    'X-Forwarded-Host': 'evil.example',
    Forwarded: 'for=198.51.100.1',
    'X-Real-IP': '198.51.100.1',
    'X-Original-URL': '/admin',
    'X-Rewrite-URL': '/admin',
    Accept: 'text/html',
    'Accept-Language': 'de',
    'User-Agent': 'curl/8',
    Referer: 'http://evil.example/',
    Origin: 'http://evil.example',
    'X-Anything': 'else',
    TE: 'trailers',
  };
  const allowed = [
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-type',
    'host',
    'traceparent',
    'via',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-request-id',
  ];

  it.each(OPERATIONS)('$id', async (operation) => {
    fake.handler = (request) =>
      request.method === operation.method
        ? exampleResponse(request)
        : { json: { author: { username: operation.allowed } } };
    await send(gateway, operation, operation.allowed, { ...evil, 'X-Request-Id': 'my-own-id' });
    const request = fake.requests.at(-1);
    const body = operation.body === undefined ? [] : ['content-length'];
    const names = Object.keys(request?.headers ?? {}).filter((name) => name !== 'content-length' || body.length > 0);
    // If the response is stored, other callers can see every value that the upstream copies into it from the request.
    const stored = gateway.gateway.services.cache.stats().entries > 0;
    const known = stored ? allowed.filter((name) => !name.startsWith('x-forwarded-')) : allowed;
    expect(names.toSorted()).toEqual([...known, ...body].toSorted());
    expect(request?.headers).toMatchObject({
      accept: 'application/json',
      host: new URL(fake.url).host,
      'content-type': 'application/json',
      ...(!stored && {
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-host': new URL(gateway.url).host,
        'x-request-id': 'my-own-id',
      }),
    });
    if (stored) expect(request?.headers['x-request-id']).not.toBe('my-own-id');
    expect([request?.method, request?.target]).toEqual([
      operation.method,
      operation.target({ ...EXAMPLE_IDS, comment: '272' }),
    ]);
  });

  it("continues the caller's trace", async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await gateway.call(COMMENT, { headers: { traceparent, tracestate: 'vendor=1' } });
    const headers = fake.requests[0]?.headers;
    expect(headers?.['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(headers?.['tracestate']).toBe('vendor=1');
  });
});

describe('rules 2: Set-Cookie of a documented operation is never returned', () => {
  it.each(OPERATIONS)('$id', async (operation) => {
    const headers = { 'Set-Cookie': ['JSESSIONID=1; Path=/', 'remember=me'] };
    fake.handler = (request) => ({ ...exampleResponse(request), headers });
    const good = await send(gateway, operation, operation.allowed);
    expect(good.headers['set-cookie']).toBeUndefined();
    fake.handler = () => ({ ...errorText(404, 'not found'), headers });
    expect((await send(gateway, operation, operation.allowed)).headers['set-cookie']).toBeUndefined();
  });
});
