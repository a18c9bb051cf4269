import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * Two attacks on stored pages. Poisoning: a request contains something that changes the upstream's response but is not
 * part of the cache key, such as a header, the body of a GET or a different spelling of the host. The response is then
 * stored for everyone. Deception: a victim opens an address that looks like a static file but returns the victim's own
 * page. A cache then stores that page for everyone.
 */

const QUESTIONS = '/services/v2/question.json';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  // This upstream copies everything it receives into its page.
  fake = await startFakeUpstream(({ method, target, rawHeaders, body }) => {
    const example = exampleOf('listQuestions');
    const headers = rawHeaders.filter(
      (_, at) => !/^(?:host|x-request-id|traceparent)$/i.test(rawHeaders[at - (at % 2)] ?? ''),
    );
    const copied = JSON.stringify([method, target, headers, body.toString()]);
    return { json: { ...example, list: [{ ...example.list[0], body: copied }] } };
  });
  const credentials = { kind: 'service', username: 'service', password: 'service' };
  gateway = await startTestGateway({
    upstream: fake,
    config: {
      upstream: { credentials },
      cache: { sampleShared: 0 },
      operations: { listQuestions: { cache: { audience: 'public' } } },
      undocumented: { allow: [{ method: 'GET', path: '/services/v2/static/**' }] },
    },
  });
});
beforeEach(() => {
  gateway.gateway.services.cache.purgeAll();
  fake.requests.length = 0;
});

/** Sends a request with these lines, as an attacker would. Returns everything received. */
const attack = (line: string, lines: readonly string[] = ['Host: x'], body = '') =>
  sendRaw(
    Number(new URL(gateway.url).port),
    line,
    ...lines,
    `Authorization: ${basic('bob')}`,
    'Connection: close',
    '',
    body,
  );
const victim = () => gateway.call(QUESTIONS, { user: 'alice', headers: { Host: 'x' } });

const HEADERS = `
  X-HTTP-Method-Override: DELETE
  X-HTTP-Method: PUT
  X-Method-Override: POST
  X-Original-URL: /admin
  X-Rewrite-URL: /admin
  X-Original-Host: evil.example
  X-Host: evil.example
  X-Forwarded-Host: evil.example
  X-Forwarded-Server: evil.example
  X-Forwarded-Scheme: evil
  X-Forwarded-Proto: evil
  X-Forwarded-Port: 1
  X-Forwarded-Prefix: /evil
  X-Forwarded-For: evil
  X-Client-IP: evil
  True-Client-IP: evil
  Via: 1.1 evil
  Forwarded: host=evil.example
  Accept: text/html
  Accept-Language: xx
  Accept-Charset: utf-7
  Pragma: evil
  Accept-Encoding: evil
  User-Agent: evil
  Referer: http://evil.example/
  Origin: http://evil.example
  Range: bytes=0-0
  If-Range: "evil"
  If-Match: "evil"
  If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT
  If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT
  Content-Type: text/evil
  Content-Encoding: evil
  TE: trailers
  Upgrade: evil
  Max-Forwards: 0
  Surrogate-Capability: evil
  Expect: 100-continue
  X-Request-Id: evil
  tracestate: evil=1
  baggage: evil=1
  X-Custom: evil
  Prefer: evil
  X-Wap-Profile: evil
  Connection: X-Request-Id, Accept
  Cache-Control: no-store
  Cache-Control: max-age=0, evil
  Cookie:
`
  .trim()
  .split(/\n +/);

describe('a stored page', () => {
  it.each(HEADERS)(
    'is the same for everyone if it was fetched for a request with the header %s',
    async (header: string) => {
      const clean = (await victim()).text;
      gateway.gateway.services.cache.purgeAll();
      expect(await attack(`GET ${QUESTIONS} HTTP/1.1`, ['Host: x', header])).toMatch(/HTTP\/1\.1 200 OK\r/);
      const got = await victim();
      expect([got.status, got.text]).toEqual([200, clean]);
      expect(got.headers['cache-status']).toContain('hit');
    },
  );

  it.each([
    ['a length', ['Host: x', 'Content-Length: 14'], '{"evil":"body"'],
    ['chunks', ['Host: x', 'Transfer-Encoding: chunked'], 'e\r\n{"evil":"body"\r\n0\r\n\r\n'],
    ['a form', ['Host: x', 'Content-Type: application/x-www-form-urlencoded', 'Content-Length: 6'], 'q=evil'],
  ])('is the same for everyone if it was fetched for a GET with a body (%s)', async (_name, lines, body) => {
    const clean = (await victim()).text;
    gateway.gateway.services.cache.purgeAll();
    await attack(`GET ${QUESTIONS} HTTP/1.1`, lines, body);
    expect((await victim()).text).toBe(clean);
    expect(JSON.stringify(fake.requests.map((request) => request.body.toString()))).not.toContain('evil');
  });

  it.each([
    ['another port', `GET ${QUESTIONS} HTTP/1.1`, 'Host: x:1'],
    ['the default port', `GET ${QUESTIONS} HTTP/1.1`, 'Host: x:80'],
    ['capitals', `GET ${QUESTIONS} HTTP/1.1`, 'Host: X'],
    ['a final dot', `GET ${QUESTIONS} HTTP/1.1`, 'Host: x.'],
    ['another host', `GET ${QUESTIONS} HTTP/1.1`, 'Host: evil.example'],
    ['no host', `GET ${QUESTIONS} HTTP/1.0`, 'X-A: b'],
    ['an absolute target', `GET http://evil.example${QUESTIONS} HTTP/1.1`, 'Host: evil.example'],
    ['an empty query', `GET ${QUESTIONS}? HTTP/1.1`, 'Host: x'],
    ['the first page', `GET ${QUESTIONS}?page=1 HTTP/1.1`, 'Host: x'],
    ['HEAD', `HEAD ${QUESTIONS} HTTP/1.1`, 'Host: x'],
  ])('is the same for everyone if it was fetched with %s', async (_name, line, header) => {
    const clean = (await victim()).text;
    gateway.gateway.services.cache.purgeAll();
    await attack(line, [header]);
    const got = await victim();
    expect(got.text.replaceAll('question.json?"', 'question.json"')).toBe(clean);
  });
});

describe('an address that looks like a static file', () => {
  it.each([
    `${QUESTIONS}/x.css`,
    `${QUESTIONS};x.css`,
    `${QUESTIONS}%3bx.css`,
    `${QUESTIONS}%23x.css`,
    `${QUESTIONS}%3fx.css`,
    `${QUESTIONS}%0ax.css`,
    `${QUESTIONS}%00x.css`,
    `${QUESTIONS}%2fx.css`,
    `/services/v2/question.css`,
    `/services/v2/question.json.css`,
    `/services/v2/static/..%2fquestion.json`,
    `/services/v2/static/../question.json`,
    `/services/v2/static/..;/question.json`,
    `/services/v2/static/%2e%2e/question.json`,
    `/services/v2/comment/271.css`,
    `/services/v2/comment/271.json/x.js`,
  ])('never returns a page: %s', async (target) => {
    expect(await attack(`GET ${target} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(fake.requests).toEqual([]);
  });

  it('is never stored, even if an entry forwards it', async () => {
    for (const target of ['/services/v2/static/x.css', '/services/v2/static/x.css?question.json']) {
      const first = await gateway.call(target, { user: 'bob' });
      const second = await gateway.call(target, { user: 'alice' });
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.headers['cache-status']).toBeUndefined();
    }
    expect(fake.requests).toHaveLength(4);
    expect(gateway.gateway.services.cache.stats().entries).toBe(0);
  });
});

describe('a parameter that is not in the contract', () => {
  // Some servers interpret these parameters as a request for a different method, a different format or a script.
  it.each([
    '_method=DELETE',
    'callback=evil',
    'format=html',
    'utm_source=evil',
    'page=1&page=2',
    'q=a;page=2',
    'jsonp=evil',
    'x',
  ])('never reaches the upstream: %s', async (query) => {
    const text = await attack(`GET ${QUESTIONS}?${query} HTTP/1.1`);
    if (!query.startsWith('q=')) expect(text).toMatch(/^HTTP\/1\.1 400 /);
    for (const { target } of fake.requests) expect(target).toBe(`${QUESTIONS}?${query}`);
    expect(fake.requests.length).toBe(query.startsWith('q=') ? 1 : 0);
    fake.requests.length = 0;
    // The page without the parameter is a different page.
    expect((await victim()).headers['cache-status']).not.toContain('hit');
  });
});
