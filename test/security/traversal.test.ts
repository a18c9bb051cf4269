import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: a path looks harmless to Portico but means something else to the server behind it. Servers disagree on
 * the meaning of `..`, `%2e`, `..;x`, a backslash or an encoded slash, so a rule that allows `/services/v2/**` could
 * also grant access to `/manager`. A target that is read as an address (`//host`, `http://host/`) could send a caller's
 * credential to another host. The upstream in this test records every target that it receives. Each must begin with the
 * base path and must not lead out of it.
 */

const BASE = '/qa';

/** Targets that are refused in every mode, grouped by kind. */
const REFUSED = {
  'dot segments': [
    '/services/v2/../../manager',
    '/services/v2/..',
    '/..',
    '/.',
    '/services/v2/./comment/1.json',
    '/services/v2/comment/../../../admin',
    '/services/v2/comment/1.json/..',
  ],
  'encoded dots': [
    '/services/v2/%2e%2e/%2e%2e/manager',
    '/services/v2/%2E%2E/x',
    '/services/v2/.%2e/x',
    '/services/v2/%2e./x',
    '/services/v2/%2e/x',
  ],
  'path parameters of Tomcat': [
    '/services/v2/..;/manager',
    '/services/v2/..;x=y/manager',
    '/services/v2/%2e%2e;/manager',
    '/services/v2/..%3b/manager',
    '/services/v2/.;/x',
  ],
  backslashes: ['/services/v2/..\\..\\manager', '/services/v2/\\..\\x', '/\\..\\x', '/services\\..\\v2'],
  'encoded backslashes': ['/services/v2/..%5c..%5cmanager', '/services/v2/a%5Cb.json', '/%5c%5cevil.example/x'],
  'encoded slashes': [
    '/services/v2/..%2f..%2fmanager',
    '/services/v2/comment/..%2F..%2Fadmin.json',
    '/services/v2/comment/1%2f2.json',
    '/%2f%2fevil.example/x',
  ],
  'a NUL': ['/services/v2/comment/1.json%00', '/services/v2/%00/x', '/services/v2/question.json?q=a%00b'],
  'a fragment': ['/services/v2/comment/1.json#x', '/services/v2/question.json?q=1#x'],
} as const;

/** Targets that look like addresses on another host. */
const FOREIGN = [
  '//evil.example/services/v2/comment/1.json',
  '///evil.example/x',
  '/services/v2//evil.example/x',
  '/@evil.example/x',
  '/services/v2/x@evil.example',
  '/:80/x',
  '/services/v2/http://evil.example/x',
];

/** Targets that would leave the base path if they were decoded twice. They are forwarded unchanged or refused. */
const TWICE = ['/services/v2/%252e%252e/manager', '/services/v2/..%252fmanager', '/services/v2/%25%32%65%25%32%65/x'];

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ status: 404, json: { error: 'not found' } }), BASE);
  const undocumented = { allow: [{ method: '*', path: '/services/v2/**' }] };
  for (const mode of ['strict', 'staging', 'observe'])
    gateways.set(mode, await startTestGateway({ upstream: fake, config: { mode, undocumented } }));
});
beforeEach(() => {
  fake.requests.length = 0;
});

/** Sends a target exactly as given, which client libraries do not do. */
const send = (mode: string, target: string, method = 'GET', host = 'public.example'): Promise<string> =>
  sendRaw(
    Number(new URL(gateways.get(mode)?.url ?? '').port),
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: ${basic('admin')}`,
    'Content-Length: 0',
    'Connection: close',
    '',
    '',
  );

/** Checks that every target that the upstream received is under its base path and contains no other host. */
function expectInside(): void {
  for (const { target, headers } of fake.requests) {
    expect(target.startsWith(`${BASE}/`)).toBe(true);
    expect(new URL(target.replaceAll('\\', '/'), 'http://upstream.example').pathname.startsWith(`${BASE}/`)).toBe(true);
    expect(`http://${headers.host}${BASE}`).toBe(fake.url);
  }
}

describe.each(['strict', 'staging', 'observe'])('in %s', (mode) => {
  const targets = Object.entries(REFUSED).flatMap(([name, list]) => list.map((target) => [name, target] as const));

  it.each(targets)('%s are refused and not forwarded: %s', async (_name, target) => {
    for (const method of ['GET', 'DELETE']) expect(await send(mode, target, method)).toMatch(/^HTTP\/1\.1 400 /);
    expect(fake.requests).toEqual([]);
  });

  it.each(FOREIGN)('a target that looks like another host remains a path on the one upstream: %s', async (target) => {
    const text = await send(mode, target);
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expectInside();
    for (const request of fake.requests) expect(request.target).toBe(BASE + target);
  });

  it.each(TWICE)(
    'a target that would escape if decoded twice is never decoded once for the upstream: %s',
    async (target) => {
      await send(mode, target);
      for (const request of fake.requests) expect(request.target).toBe(BASE + target);
      expectInside();
    },
  );

  it.each([
    ['http://evil.example', 'evil.example'],
    ['https://evil.example:8443', 'evil.example:8443'],
    ['HTTP://EVIL.example:80', 'evil.example'],
  ])(
    'the absolute form %s with the host %s is forwarded as the path only, to the one upstream',
    async (origin, host) => {
      expect(await send(mode, `${origin}/services/v2/comment/1.json`, 'GET', host)).toMatch(/^HTTP\/1\.1 404 /);
      expect(fake.requests.map(({ target }) => target)).toEqual([`${BASE}/services/v2/comment/1.json`]);
      expectInside();
    },
  );

  it.each([
    'http://evil.example/../x',
    'http://evil.example/services/v2/%2e%2e/x',
    'http://other.example/services/v2/comment/1.json',
    'http://user:pass@x/services/v2/comment/1.json',
    'ftp://evil.example/x',
    'evil.example:443',
    '*',
  ])('any other form of target, or an escaping one in absolute form, is not forwarded: %s', async (target) => {
    expect(await send(mode, target)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(fake.requests).toEqual([]);
  });

  it('a tunnel to another host is not opened', async () => {
    expect(await send(mode, 'evil.example:443', 'CONNECT')).not.toMatch(/^HTTP\/1\.1 2/);
    expect(fake.requests).toEqual([]);
  });
});

// If other spellings of documented paths were forwarded as undocumented, they would evade permissions, redaction and
// the cache.
describe('another spelling of a documented path', () => {
  it.each([
    '/services/v2/%71uestion.json',
    '/services/v2/question%2Ejson',
    '/services/v2/question.json;x',
    '/services/v2;x/question.json',
    '/services/v2/question.json/',
    '/services/v2//question.json',
    '/services/v2/./question.json',
    '/services/v2/Question.json',
    '/services/v2/QUESTION.JSON',
    '/services/v2/question.json.',
    '/services/v2/question.json%20',
    '/services/v2/%63omment/1.json',
    '/services/v2/comment//1.json',
  ])('is refused outside observe mode, even if undocumented paths are allowed: %s', async (target) => {
    for (const mode of ['strict', 'staging']) expect(await send(mode, target)).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(fake.requests).toEqual([]);
    // In `observe` mode, the upstream receives every target unchanged, unless it contains dot segments.
    await send('observe', target);
    for (const request of fake.requests) expect(request.target).toBe(BASE + target);
  });
});

describe('a path parameter', () => {
  it.each(['a%2fb', '..%2f..%2fadmin', '%2e%2e', '1;x=2', '1%3bx', '1%20', '%31', '1?x', '١'])(
    'that contains more than a number never leads to another path: %s',
    async (id) => {
      const text = await send('strict', `/services/v2/comment/${encodeURI(id).replaceAll('%25', '%')}.json`);
      expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
      for (const { target } of fake.requests) expect(target).toMatch(/^\/qa\/services\/v2\/comment\/[^/]*$/);
      expectInside();
    },
  );
});

describe('a public base path', () => {
  it('is removed once, and only as a whole path segment', async () => {
    const config = { publicBasePath: '/api', undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] } };
    const atPath = await startTestGateway({ upstream: fake, config });
    for (const target of [
      '/apix/services/v2/a',
      '/services/v2/a',
      '/api/../services/v2/a',
      '/api/api/services/v2/a',
      '/api//services/v2/a',
    ])
      expect((await atPath.call(target)).status).toBeGreaterThanOrEqual(400);
    expect(fake.requests).toEqual([]);
    await atPath.call('/api/services/v2/a');
    expect(fake.requests.map(({ target }) => target)).toEqual(['/qa/services/v2/a']);
  });
});
