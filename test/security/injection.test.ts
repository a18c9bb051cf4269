import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';
import { startRawServer } from '../engine/upstream/support/raw-server.ts';

const QUESTIONS = '/services/v2/question.json';
const COMMENT = '/services/v2/comment/271.json';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const allow = [{ method: '*', path: '/services/v2/**' }];
  gateway = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

/*
 * The attack: a value in a request contains a line break and is copied into a header of a response or of an upstream
 * request. The line break then adds a header, or a whole response, chosen by the attacker.
 */
const clean = () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
};

describe('header injection', () => {
  it.each(['%0d%0aSet-Cookie:%20x=1', '%0aX-Injected:%201', '%0d%0a%0d%0a<script>', '%E5%98%8A%E5%98%8DSet-Cookie:x'])(
    'is impossible with a line break in any value: %s',
    async (value) => {
      for (const target of [
        `${QUESTIONS}?q=${value}`,
        `${QUESTIONS}?${value}=1`,
        `/services/v2/comment/${value}.json`,
        `/services/v2/space/${value}.json`,
      ]) {
        const got = await gateway.call(target);
        expect(got.headers['set-cookie']).toBeUndefined();
        expect(got.headers['x-injected']).toBeUndefined();
        expect(got.text).not.toContain('<script>');
      }
      for (const { headers } of fake.requests) expect(Object.keys(headers)).not.toContain('x-injected');
    },
  );

  it.each([
    ['with a space', 'a b'],
    ['with a quote', 'a"b'],
    ['with markup', '<script>'],
    ['too long', 'x'.repeat(129)],
    ['empty', ''],
  ])('replaces a request id %s with a new one', async (_name, id) => {
    const got = await gateway.call(COMMENT, { headers: { 'X-Request-Id': id } });
    expect(got.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(fake.requests[0]?.headers['x-request-id']).toBe(got.headers['x-request-id']);
  });

  it('replaces two request ids with a new one', async () => {
    const got = await gateway.call(COMMENT, { headers: { 'X-Request-Id': ['one', 'two'] } });
    expect(got.headers['x-request-id']).not.toMatch(/^one$|^two$/);
  });

  it.each([
    'nonsense',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ])('replaces an invalid trace context: %s', async (traceparent) => {
    await gateway.call(COMMENT, { headers: { traceparent } });
    expect(fake.requests[0]?.headers['traceparent']).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(fake.requests[0]?.headers['traceparent']).not.toBe(traceparent);
  });

  it('does not break the response to the client if an upstream header is malformed', async () => {
    const raw = await startRawServer(({ socket }) => {
      const body = JSON.stringify(exampleOf('getComment'));
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRetry-After: 1\rSet-Cookie: x=1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    for (const [real, target] of [
      [false, COMMENT],
      [true, COMMENT],
      [true, '/elsewhere'],
    ] as const) {
      const other = await startTestGateway({ upstream: raw.origin, real });
      const got = await other.call(target);
      expect(got.headers['set-cookie']).toBeUndefined();
      expect(got.rawHeaders.some((text) => /[\r\n]/.test(text))).toBe(false);
    }
  });

  it('never turns an upstream error message into a header', async () => {
    fake.handler = () => ({ status: 400, json: { error: 'x\r\nSet-Cookie: y=1\r\n\r\n<b>' } });
    const got = await gateway.call(COMMENT);
    expectError(got, 400, 'upstream_bad_request');
    expect(got.headers['set-cookie']).toBeUndefined();
  });
});

/*
 * The attack: a client chooses a name that every object inherits. If the gateway stores a value under that name, all
 * objects change. If the gateway looks up the name, it finds a value that was never set.
 */
describe('prototype pollution', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'];

  it.each(names)('treats %s as an unknown parameter, an invalid id and an unknown path', async (name) => {
    for (const operation of OPERATIONS) {
      const { method, allowed, body } = operation;
      const got = await gateway.call(targetOf(operation, `${name}=1&${name}[polluted]=1`), {
        method,
        user: allowed,
        ...(body !== undefined && { body }),
      });
      // Operation 7 never refuses a parameter (docs/rules.md §4).
      expect([operation.id, got.status]).toEqual([operation.id, operation.id === 'listActions' ? 200 : 400]);
    }
    expectError(await gateway.call(`/services/v2/comment/${name}.json`), 400, 'invalid_parameter');
    expectError(await gateway.call(`/${name}`), 404, 'not_in_contract');
    expectError(await gateway.call(`${QUESTIONS}?spaceId=${name}`), 400, 'invalid_parameter');
    clean();
  });

  it.each(names)('treats %s as an ordinary field of a projection', async (name) => {
    for (const kind of ['include', 'exclude', 'includeOnly']) {
      fake.handler = () => ({ json: { ...exampleOf('listQuestions'), list: [{ id: 1 }] } });
      expect((await gateway.call(`${QUESTIONS}?${kind}=id,${name},${name}.${name}`)).status).toBe(200);
    }
    clean();
  });

  it.each(names)('treats %s in a body as data', async (name) => {
    const create = operationOf('createComment');
    const body = `{"body":"x","${name}":{"polluted":true,"visibility":"recipients"}}`;
    const got = await gateway.call(targetOf(create), {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(got.status).toBe(201);
    const upload = await gateway.call(targetOf(operationOf('uploadGdprFile')), {
      method: 'POST',
      body: `{"${name}":{"content":"username\\nx\\n"}}`,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(upload.status).toBe(400);
    const column = await gateway.call(targetOf(operationOf('uploadGdprFile')), {
      method: 'POST',
      body: { content: `${name}\nx\n` },
    });
    expect(column.status).toBe(400);
    clean();
  });

  it.each(names)('treats %s in a response as data, and never finds inherited members', async (name) => {
    fake.handler = () => ({
      body: `{"${name}":{"error":"x","polluted":true,"visibility":"recipients"},"id":1}`,
      headers: { 'Content-Type': 'application/json' },
    });
    for (const user of ['admin', 'bob']) expect((await gateway.call(COMMENT, { user })).status).toBe(200);
    fake.handler = () => ({
      status: 400,
      body: `{"${name}":{"error":"x"}}`,
      headers: { 'Content-Type': 'application/json' },
    });
    expectError(await gateway.call(COMMENT), 400, 'upstream_bad_request');
    clean();
  });

  it.each(names)('grants no access for %s as a name, a password or a header of the request', async (name) => {
    expectError(await gateway.call(COMMENT, { user: name }), 401, 'credentials_refused');
    const client = await connectRaw(Number(new URL(gateway.url).port));
    const fields = [`Authorization: ${basic('admin')}`, `${name}: polluted`, `${name}: twice`, 'Connection: close'];
    client.send('GET /services/v2/space.json HTTP/1.1', 'Host: x', ...fields, '', '');
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 404 /);
    clean();
  });
});
