import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClientResponse, type Call, callAt } from '../builders/call.ts';
import { errorsMessage, errorText, htmlPage, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';

const QUESTIONS = '/services/v2/question.json';
const LIMIT = 4096;
const limits = { upstream: { maxResponseBytes: LIMIT }, listen: { maxBodyBytes: LIMIT } };

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, real: true, config: limits });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

/**
 * Headers that apply only to one connection, including those that frame bodies of unknown length, and the four
 * headers that `observe` mode may add.
 */
const NOT_END_TO_END = /^(?:connection|keep-alive|transfer-encoding|date)$/i;
const ADDED = /^(?:x-request-id|contract-status|via|x-content-type-options)$/i;

function endToEnd(reply: ClientResponse, left: RegExp): string[] {
  const fields: string[] = [];
  for (let at = 0; at < reply.rawHeaders.length; at += 2) {
    const name = reply.rawHeaders[at] ?? '';
    if (!NOT_END_TO_END.test(name) && !left.test(name)) fields.push(`${name}: ${reply.rawHeaders[at + 1]}`);
  }
  return fields.toSorted();
}

/**
 * Checks that a client receives the same status, headers and bytes through the gateway as directly from the upstream.
 */
async function expectSame(target: string, call: Call = {}, apart = /^$/): Promise<ClientResponse> {
  const direct = await callAt(fake.url, target, call);
  const through = await gateway.call(target, call);
  expect(through.status).toBe(direct.status);
  const without = (left: RegExp) => new RegExp(`${left.source}|${apart.source}`, 'i');
  expect(endToEnd(through, without(ADDED))).toEqual(endToEnd(direct, without(/^$/)));
  expect(through.bytes.equals(direct.bytes), 'the bytes').toBe(true);
  expect([through.complete, direct.complete]).toEqual([true, true]);
  return through;
}

/** Resolves with true if the connection breaks before or during the response. */
const brokenAt = (target: string) =>
  gateway.call(target).then(
    ({ complete }) => !complete,
    () => true,
  );

/** Returns a request for an operation as a careless client might send it. */
const callOf = ({ method, body }: (typeof OPERATIONS)[number], user: string | null = 'anyone'): Call => ({
  method,
  user,
  ...(body !== undefined && { body }),
});

const page = exampleResponse({ method: 'GET', path: QUESTIONS });
const pageBytes = Buffer.from(JSON.stringify(page.json, undefined, 1));
const JSON_TYPE = { 'Content-Type': 'application/json;charset=UTF-8' };
const shapes: { name: string; sends: FakeResponse }[] = [
  {
    name: 'permission in {errors: {message}}',
    sends: errorsMessage(401, PERMISSION_HTML, { 'WWW-Authenticate': 'Basic realm="legacy"' }),
  },
  { name: '{error} with 404', sends: errorText(404, 'not found') },
  { name: 'an HTML page with 401', sends: htmlPage(401) },
  { name: 'an HTML page with 500', sends: htmlPage(500) },
  { name: '200 with an error in the body', sends: errorText(200, 'broken') },
  { name: 'malformed JSON', sends: { body: '{"list":[{"id":1,', headers: JSON_TYPE } },
  { name: 'no body at all', sends: { status: 200, headers: JSON_TYPE } },
  { name: '204', sends: { status: 204 } },
  { name: '429 with Retry-After', sends: errorText(429, 'slow', { 'Retry-After': '9' }) },
  { name: '503', sends: errorText(503, 'down', { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }) },
  {
    name: 'a redirect with the legacy host',
    sends: { status: 302, headers: { Location: 'http://old.example/qa/login?x=1' } },
  },
  { name: '304', sends: { status: 304, headers: { ETag: '"legacy"' } } },
  {
    name: '206',
    sends: { status: 206, body: 'ab', headers: { 'Content-Range': 'bytes 0-1/10', 'Accept-Ranges': 'bytes' } },
  },
  {
    name: 'cookies, validators and custom headers',
    sends: {
      body: pageBytes,
      headers: {
        ...JSON_TYPE,
        'Set-Cookie': ['JSESSIONID=1; Path=/; HttpOnly', 'remember=me; Domain=old.example'],
        ETag: 'W/"weak"',
        'Last-Modified': 'Wed, 21 Oct 2015 07:28:00 GMT',
        'Cache-Control': 'max-age=60, public',
        Expires: '0',
        Vary: 'Cookie, Accept-Encoding',
        Server: 'Apache-Coyote/1.1',
        Age: '7',
        'X-Powered-By': 'Servlet/3.0',
        'X-MiXeD-Case': 'Kept',
        Link: '<http://old.example/next>; rel="next"',
      },
    },
  },
  {
    name: 'private fields',
    sends: { body: '{"visibility":"recipients","recipients":[{"id":9007199254740993}]}', headers: JSON_TYPE },
  },
  {
    name: 'legacy addresses',
    sends: { body: '{"executionURL":"http://old.example/services/v2/x"}', headers: JSON_TYPE },
  },
  {
    name: 'bytes that are not UTF-8',
    sends: { body: Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]), headers: JSON_TYPE },
  },
  { name: 'a byte order mark', sends: { body: '\uFEFF{"id":1}', headers: JSON_TYPE } },
  { name: 'gzip', sends: { body: gzipSync(pageBytes), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } } },
  {
    name: 'brotli',
    sends: { body: brotliCompressSync(pageBytes), headers: { ...JSON_TYPE, 'Content-Encoding': 'br' } },
  },
  {
    name: 'an unknown content coding',
    sends: { body: 'xyz', headers: { ...JSON_TYPE, 'Content-Encoding': 'x-own' } },
  },
  {
    name: 'a broken content coding',
    sends: { body: 'no gzip', headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  },
  { name: 'a body too large for memory', sends: { body: Buffer.alloc(LIMIT * 40, 'x'), headers: JSON_TYPE } },
  {
    name: 'a body too large for memory once decoded',
    sends: { body: gzipSync(Buffer.alloc(LIMIT * 40)), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  },
];

describe('in observe mode, every operation returns what the upstream sends', () => {
  it.each(OPERATIONS)('$id', async (operation) => {
    for (const user of ['anyone', 'nobody', null]) {
      const got = await expectSame(targetOf(operation), callOf(operation, user));
      expect(got.status).toBe(operation.success);
    }
  });

  it.each(OPERATIONS)('$id, errors included', async (operation) => {
    for (const sends of [errorsMessage(401, PERMISSION_HTML), htmlPage(401), errorText(500, 'x')]) {
      fake.handler = () => sends;
      await expectSame(targetOf(operation), callOf(operation));
    }
  });

  it.each(OPERATIONS)('$id with undocumented parameters', async (operation) => {
    await expectSame(targetOf(operation, 'page=-1&pageSize=99999&colour=blue&page=2'), callOf(operation));
  });
});

describe.each([
  { where: 'a documented operation', target: QUESTIONS },
  { where: 'an undocumented path', target: '/services/v2/question/118.json' },
  { where: 'a path elsewhere', target: '/questions/118/why.html' },
])('in observe mode, on $where', ({ target }) => {
  it.each(shapes)('bytes, status and headers are the same: $name', async ({ sends }) => {
    fake.handler = () => sends;
    await expectSame(target);
  });

  it('a body of unknown length is streamed', async () => {
    fake.handler = (_request, response) => {
      response.writeHead(200, JSON_TYPE);
      for (const part of ['{"li', 'st":', '[]}']) response.write(part);
      response.end();
      return undefined;
    };
    await expectSame(target, {}, /^content-length$/i);
  });

  it('HEAD is sent upstream as HEAD, and the headers are the same', async () => {
    fake.handler = () => ({ headers: { ...JSON_TYPE, 'Content-Length': '1234', ETag: '"e"' } });
    await expectSame(target, { method: 'HEAD' });
    expect(fake.requests.at(-1)?.method).toBe('HEAD');
  });

  it.each([
    { name: 'small', length: 1000 },
    { name: 'a body too large for memory', length: LIMIT * 20 },
  ])("a response that breaks off breaks the client's connection: $name", async ({ length }) => {
    fake.handler = (_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': length });
      response.write(Buffer.alloc(length / 2, 'x'), () => response.socket?.destroy());
      return undefined;
    };
    expect(await brokenAt(target)).toBe(true);
  });

  it('a chunked response that breaks off does so too', async () => {
    fake.handler = (_request, response) => {
      response.writeHead(200, JSON_TYPE);
      response.write('{"list":[]}', () => response.socket?.destroy());
      return undefined;
    };
    expect(await brokenAt(target)).toBe(true);
  });

  it('request headers are forwarded unchanged, including conditional and range headers', async () => {
    const headers = {
      Cookie: 'JSESSIONID=1; a=b',
      'X-Auth-Token': 'token',
      Range: 'bytes=0-1',
      'If-Range': '"x"',
      'If-None-Match': '"x", W/"y"',
      'If-Modified-Since': 'Wed, 21 Oct 2015 07:28:00 GMT',
      'X-HTTP-Method-Override': 'PUT',
      Accept: 'text/html;q=0.1',
      'Accept-Encoding': 'br, x-own',
      'Accept-Language': 'de',
      'Cache-Control': 'no-cache',
      'User-Agent': 'curl/8',
      'X-MiXeD-Case': 'Kept',
      'X-Twice': ['a', 'b'],
      Authorization: 'Bearer token',
    };
    await gateway.call(target, { user: null, headers });
    const raw = fake.requests[0]?.rawHeaders ?? [];
    const lines = raw.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${raw[index + 1]}`] : []));
    const sent = Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((value) => `${name}: ${value}`),
    );
    expect(lines).toEqual(expect.arrayContaining(sent));
    const own = /^(?:host|connection|x-forwarded-\w+|via|x-request-id|traceparent):/i;
    expect(lines.filter((line) => !own.test(line)).toSorted()).toEqual(sent.toSorted());
  });

  it.each([
    '?q=a+b%20c%2f%C3%A4&topics=a,b%2Cc',
    '?x[]=1&y={z}|\'"`^',
    '?%zz=%',
    '?a=1&&b=&=c&a=2&',
    '?page=1&pageSize=',
    '?',
    '?q=%E4%F6',
    '?a;b=c/../d//e?f',
  ])('the query is forwarded unchanged: %s', async (query) => {
    await gateway.call(target + query);
    expect(fake.requests.map((request) => request.target)).toEqual([target + query]);
  });
});

describe('in observe mode, raw targets', () => {
  it.each([
    '/',
    '/services/v2/',
    '/services/v2/question.json/',
    '/Services/V2/Question.JSON',
    '/services//v2///question.json',
    '/services/v2/comment/%31%32.json',
    '/services/v2/comment/a%20b%c3%a4.json',
    '/services/v2/comment/%zz.json',
    "/services/v2/comment/!$&'()*+,;=:@-._~.json",
    '/services/v2/question.json;jsessionid=1',
    '/services/v2/...json/..hidden/a..b',
  ])('%s is forwarded unchanged', async (target) => {
    await expectSame(target);
    expect(fake.requests.map((request) => request.target)).toEqual([target, target]);
  });

  it.each([
    { target: '/services/v2/../admin', code: 'unsafe_path' },
    { target: '/services/v2/question.json/..', code: 'unsafe_path' },
    { target: '/services/v2/./question.json', code: 'unsafe_path' },
    { target: '/services/v2/%2e%2e/admin', code: 'unsafe_path' },
    { target: '/services/v2/.%2E/admin', code: 'unsafe_path' },
    { target: '/services/v2/..;x=1/admin', code: 'unsafe_path' },
    { target: '/services/v2/..%3bx/admin', code: 'unsafe_path' },
    { target: '/services/v2/..\\admin', code: 'unsafe_path' },
    { target: '/services/v2/a%2fb', code: 'unsafe_path' },
    { target: '/services/v2/a%2Fb', code: 'unsafe_path' },
    { target: '/services/v2/a%5cb', code: 'unsafe_path' },
    { target: '/services/v2/a%00', code: 'unsafe_path' },
    { target: '/services/v2/question.json?q=%00', code: 'unsafe_path' },
  ])('$target is refused', async ({ target, code }) => {
    const got = await gateway.call(target);
    expect([got.status, fake.requests.length]).toEqual([400, 0]);
    expect(got.json).toEqual({ error: got.json.error });
    expect(await gateway.metric(`portico_errors_total{code="${code}"}`)).toBeGreaterThan(0);
  });

  it('a target that is too long gets 414, and headers that are too large get 431', async () => {
    expect((await gateway.call(`${QUESTIONS}?q=${'x'.repeat(8192)}`)).status).toBe(414);
    const client = await connectRaw(Number(new URL(gateway.url).port));
    client.send(`GET ${QUESTIONS} HTTP/1.1`, 'Host: x', `X-Big: ${'x'.repeat(20_000)}`, '', '');
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 431 /);
    expect(fake.requests).toHaveLength(0);
  });
});

describe('in observe mode, request bodies', () => {
  const bodies = [
    {
      name: 'valid JSON with odd spacing and large numbers',
      body: '{ "content" :\n"username\\nx", "n": 9007199254740993.10 }',
    },
    { name: 'malformed JSON', body: '{"content":' },
    { name: 'bytes that are not UTF-8', body: Buffer.from([0xff, 0x00, 0xfe]) },
    { name: 'a body too large for memory', body: Buffer.alloc(LIMIT * 30, 'y') },
    { name: 'empty', body: '' },
  ];
  const places = [
    { where: 'operation 1', method: 'POST', target: targetOf(operationOf('uploadGdprFile')) },
    { where: 'a comment write, which is not inferred here', method: 'PUT', target: '/services/v2/comment/271.json' },
    { where: 'a new comment', method: 'POST', target: '/services/v2/node/118/comment.json' },
    { where: 'operation 12, which takes none', method: 'PUT', target: targetOf(operationOf('cancelWiki')) },
    { where: 'an undocumented path', method: 'PATCH', target: '/services/v2/user/18.json' },
    { where: 'a method that the path does not have', method: 'DELETE', target: QUESTIONS },
  ];

  it.each(places)('of $where reach the upstream unchanged', async ({ method, target }) => {
    for (const { name, body } of bodies) {
      fake.requests.length = 0;
      fake.handler = (request) => ({ status: 202, body: request.body });
      const got = await gateway.call(target, { method, body, headers: { 'Content-Type': 'text/x-own' } });
      expect([name, got.status, got.bytes.equals(Buffer.from(body))]).toEqual([name, 202, true]);
      expect(fake.requests[0]).toMatchObject({ method, target });
      expect(fake.requests[0]?.headers['content-type']).toBe('text/x-own');
    }
  });

  it('of unknown length are forwarded completely', async () => {
    fake.handler = (request) => ({ body: request.body });
    for (const target of [targetOf(operationOf('uploadGdprFile')), '/services/v2/anything.json']) {
      const client = await connectRaw(Number(new URL(gateway.url).port));
      client.send(
        `POST ${target} HTTP/1.1`,
        'Host: x',
        'Transfer-Encoding: chunked',
        'Connection: close',
        '',
        '3',
        'abc',
        '2',
        'de',
        '0',
        '',
        '',
      );
      expect(await client.until(/abcde/)).toMatch(/^HTTP\/1\.1 200 /);
      client.socket.destroy();
    }
  });
});

describe('additions to a response in observe mode', () => {
  it('are a request id, the contract verdict and Via; the verdict can be switched off', async () => {
    const got = await gateway.call(QUESTIONS);
    expect(got.headers).toMatchObject({ 'contract-status': 'conforming', via: '1.1 portico' });
    expect(got.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
    const silent = await startTestGateway({ upstream: fake, real: true, config: { contractStatusHeader: false } });
    expect((await silent.call(QUESTIONS)).headers['contract-status']).toBeUndefined();
  });

  it("do not replace the upstream's own request id", async () => {
    fake.handler = () => ({ headers: { 'X-Request-Id': 'theirs' } });
    for (const target of [QUESTIONS, '/elsewhere'])
      expect((await gateway.call(target)).rawHeaders.filter((name) => /^x-request-id$/i.test(name))).toHaveLength(1);
  });

  it('report oversize responses as skipped, and compressed ones as checked', async () => {
    fake.handler = () => ({ body: Buffer.alloc(LIMIT * 3, ' '), headers: JSON_TYPE });
    expect((await gateway.call(QUESTIONS)).headers['contract-status']).toContain('skipped=size');
    fake.handler = () => ({ body: gzipSync('{"list":7}'), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } });
    const got = await gateway.call(QUESTIONS);
    expect(got.headers['contract-status']).toMatch(/^violations/);
    expect(gunzipSync(got.bytes).toString()).toBe('{"list":7}');
  });
});

describe('in observe mode, transport failures', () => {
  it.each([QUESTIONS, '/elsewhere'])('a broken connection becomes a 502 on %s', async (target) => {
    fake.handler = (_request, response) => void response.socket?.destroy();
    const got = await gateway.call(target);
    expect([got.status, Object.keys(got.json)]).toEqual([502, ['error']]);
  });
});
