import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/portico-settings.ts';
import type { ClientResponse } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const APP = 'https://app.example.org';
const OTHER = 'https://other.example.org';
const EVIL = 'https://app.example.org.evil.example';

const corsHeaders = ({ headers }: ClientResponse) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream((request) => {
    const response = exampleResponse(request);
    // The legacy server allows every site. The gateway must not forward its header.
    return { ...response, headers: { ...response.headers, 'Access-Control-Allow-Origin': '*' } };
  });
  const undocumented = { allow: [{ method: '*', path: '/services/v2/other/**' }] };
  gateway = await startTestGateway({ upstream: fake, config: { cors: { origins: [APP, OTHER] }, undocumented } });
});

const from = (Origin: string) => ({ headers: { Origin } });
const preflight = (target: string, origin: string, method: string, on = gateway) =>
  on.call(target, {
    method: 'OPTIONS',
    user: null,
    headers: { Origin: origin, 'Access-Control-Request-Method': method },
  });

describe('a preflight request', () => {
  it('for a documented path gets a response with the methods of the contract, without the upstream', async () => {
    fake.requests.length = 0;
    const response = await preflight(QUESTIONS, APP, 'GET');
    expect([response.status, response.text, fake.requests]).toEqual([204, '', []]);
    expect(corsHeaders(response)).toEqual({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers':
        'Authorization, Content-Type, If-None-Match, Portico-Force, X-Request-Id, Traceparent',
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
    expect((await gateway.lineOf(response.headers['x-request-id'] as string))['status']).toBe(204);
  });

  it('allows only the method that the contract documents for the path', async () => {
    const response = await preflight('/services/v2/node/17/unmarkfavorite.json', APP, 'PUT');
    expect(response.headers['access-control-allow-methods']).toBe('PUT');
  });

  it.each([
    ['from an origin that is not listed', QUESTIONS, EVIL],
    ['from the origin null', QUESTIONS, 'null'],
    ['from two origins', QUESTIONS, `${APP}, ${OTHER}`],
    ['for a path that is not documented', '/services/v2/unknown', APP],
    ['for an unsafe target', '/services/v2/%2e%2e/x', APP],
  ])('%s is an ordinary request, without an allowed method', async (_what, target, origin) => {
    const response = await preflight(target, origin, 'GET');
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers['access-control-allow-methods']).toBeUndefined();
    expect(JSON.stringify(response.headers)).not.toContain(EVIL);
  });
});

describe('a response to a page of another origin', () => {
  it.each([
    ['a miss', '/services/v2/question.json?pageSize=3', {}, 200],
    ['a hit', '/services/v2/question.json?pageSize=3', {}, 200],
    ['a refusal', '/services/v2/question.json?unknown=1', {}, 400],
    ['a missing credential', QUESTIONS, { user: null }, 401],
    ['an unknown path', '/services/v2/unknown', {}, 404],
    ['an undocumented path', '/services/v2/other/x', {}, 404],
  ] as const)('(%s) names the listed origin and nothing else', async (_what, target, call, status) => {
    const response = await gateway.call(target, { ...call, ...from(APP) });
    expect(response.status).toBe(status);
    expect(corsHeaders(response)).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-expose-headers': expect.stringContaining('Contract-Status') as unknown,
      vary: expect.stringMatching(/\bOrigin\b/) as unknown,
    });
    expect(response.headers['access-control-allow-credentials']).toBeUndefined();
  });

  // Reflecting the origin would let every site read what the user may read.
  it.each([EVIL, 'null', 'https://APP.example.org', 'http://app.example.org', `${APP}:444`, `${APP}/`])(
    'never names an origin that is not listed: %s',
    async (origin) => {
      const response = await gateway.call(QUESTIONS, from(origin));
      expect([response.status, corsHeaders(response)]).toEqual([
        200,
        { vary: expect.stringMatching(/\bOrigin\b/) as unknown },
      ]);
    },
  );

  // The stored response must not contain the origin that requested it first.
  it('is shared by all origins', async () => {
    const target = '/services/v2/question.json?pageSize=7';
    fake.requests.length = 0;
    const replies = [await gateway.call(target, from(APP)), await gateway.call(target, from(OTHER))];
    expect(replies.map(({ headers }) => headers['access-control-allow-origin'])).toEqual([APP, OTHER]);
    expect(replies[0]?.headers.etag).toBe(replies[1]?.headers.etag);
    expect(fake.requests).toHaveLength(1);
    const notModified = await gateway.call(target, {
      headers: { Origin: OTHER, 'If-None-Match': String(replies[0]?.headers.etag) },
    });
    expect([notModified.status, notModified.headers['access-control-allow-origin']]).toEqual([304, OTHER]);
  });

  it('without an Origin header still varies by origin, so that other caches do not mix responses up', async () => {
    expect(corsHeaders(await gateway.call(QUESTIONS))).toEqual({
      vary: expect.stringMatching(/\bOrigin\b/) as unknown,
    });
  });
});

describe('CORS', () => {
  it('for every origin needs no Vary', async () => {
    const open = await startTestGateway({ upstream: fake, config: { cors: { origins: ['*'] } } });
    const { headers } = await open.call(QUESTIONS, from(EVIL));
    expect([headers['access-control-allow-origin'], headers.vary ?? '']).toEqual([
      '*',
      expect.not.stringContaining('Origin'),
    ]);
  });

  it('allows credentials, other headers and fewer methods if configured', async () => {
    const cors = { origins: [APP], credentials: true, headers: ['X-Own'], exposeHeaders: [], methods: ['HEAD'] };
    const own = await startTestGateway({ upstream: fake, config: { cors } });
    expect(corsHeaders(await preflight(QUESTIONS, APP, 'GET', own))).toMatchObject({
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'X-Own',
      'access-control-allow-methods': 'HEAD',
    });
    const response = await own.call(QUESTIONS, from(APP));
    expect(response.headers['access-control-allow-credentials']).toBe('true');
    expect(response.headers['access-control-expose-headers']).toBeUndefined();
  });

  it('is off by default: a preflight request is refused and the upstream decides about everything else', async () => {
    const plain = await startTestGateway({ upstream: fake });
    expect((await preflight(QUESTIONS, APP, 'GET', plain)).status).toBeGreaterThanOrEqual(400);
    expect((await plain.call('/services/v2/question.json?unknown=1', from(APP))).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  it.each([
    ['credentials for every origin', { origins: ['*'], credentials: true }, '/cors/credentials'],
    ['* next to other origins', { origins: ['*', APP] }, '/cors/origins'],
    ['a default port, which browsers omit', { origins: [`${APP}:443`] }, '/cors/origins/0'],
    ['a path', { origins: [`${APP}/app`] }, '/cors/origins/0'],
    ['the origin null', { origins: ['null'] }, '/cors/origins/0'],
    ['no origin', { origins: [] }, '/cors/origins'],
  ])('cannot be configured with %s', (_what, cors, pointer) => {
    const { faults } = readSettings({ env: {}, cwd: tempFolder(), given: { cors } });
    expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
  });

  it('cannot be configured in observe mode, which does not change responses', () => {
    const given = { mode: 'observe', cors: { origins: [APP] } };
    expect(readSettings({ env: {}, cwd: tempFolder(), given }).faults).toMatchObject([{ pointer: '/cors' }]);
  });
});
