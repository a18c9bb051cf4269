import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';

/* The attack: oversized requests and responses use up memory, time or upstream slots. */

const QUESTIONS = '/services/v2/question.json';
const COMMENT = '/services/v2/comment/271.json';
const UPLOAD = targetOf(operationOf('uploadGdprFile'));
const JSON_TYPE = { 'Content-Type': 'application/json' };
const MAX_BODY = 4096;

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const config = { listen: { maxBodyBytes: MAX_BODY }, upstream: { maxResponseBytes: 1_000_000 } };
  gateway = await startTestGateway({ upstream: fake, config });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});
const port = () => Number(new URL(gateway.url).port);

const deep = (depth: number) => `{"body":${'['.repeat(depth)}${']'.repeat(depth)}}`;

const ADMIN = `Authorization: ${basic('admin')}`;
/** Returns the lines of an upload's head, without the empty line at its end. */
const uploadHead = (...fields: string[]) => [
  `POST ${UPLOAD} HTTP/1.1`,
  'Host: x',
  'Content-Type: application/json',
  ...fields,
];

describe('requests that are too large', () => {
  it('do not include a body of exactly the maximum size', async () => {
    const room = MAX_BODY - JSON.stringify({ content: '' }).length - 'username\\n'.length;
    const got = await gateway.call(UPLOAD, { method: 'POST', body: { content: `username\n${'x'.repeat(room)}` } });
    expect([got.status, fake.requests[0]?.body.length]).toEqual([201, MAX_BODY]);
  });

  it('get 400 for a query with too many parameters', async () => {
    const query = Array.from({ length: 500 }, () => 'topics=a').join('&');
    expectError(await gateway.call(`${QUESTIONS}?${query}`), 400, 'invalid_parameter');
    expect(fake.requests).toHaveLength(0);
  });

  it('get 401 for an overlong credential', async () => {
    expectError(
      await gateway.call(QUESTIONS, { user: 'alice', password: 'x'.repeat(8000) }),
      401,
      'credentials_refused',
    );
  });

  it('get 400, not 500, for a deeply nested body', async () => {
    for (const body of [deep(1900), '['.repeat(4000)]) {
      const got = await gateway.call(targetOf(operationOf('createComment')), {
        method: 'POST',
        body,
        headers: JSON_TYPE,
      });
      expect(got.status).toBe(400);
    }
  });
});

describe('responses that are too large', () => {
  it('become 502, with or without a declared length', async () => {
    for (const declare of [true, false]) {
      fake.handler = (_request, response) => {
        response.writeHead(200, { ...JSON_TYPE, ...(declare && { 'Content-Length': 1_000_001 }) });
        response.end(Buffer.alloc(1_000_001, ' '));
        return undefined;
      };
      expectError(await gateway.call(COMMENT), 502, 'upstream_response_too_large');
    }
  });

  it('become 502 if they are small only while compressed', async () => {
    const body = gzipSync(Buffer.alloc(5_000_000, ' '));
    expect(body.length).toBeLessThan(10_000);
    fake.handler = () => ({ body, headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } });
    expectError(await gateway.call(COMMENT), 502, 'upstream_response_too_large');
  });

  it('are redacted at any depth', async () => {
    const depth = 200_000;
    const around = (inside: string) => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;
    fake.handler = () => ({ body: around('{"visibility":1,"a":2}'), headers: JSON_TYPE });
    expect((await gateway.call(COMMENT, { user: 'bob' })).text).toBe(around('{"a":2}'));
    expect((await gateway.call(COMMENT, { user: 'alice' })).status).toBe(200);
  });

  it('are reduced to the kind of error for an endless upstream error', async () => {
    fake.handler = () => ({ status: 400, json: { error: `<${'x'.repeat(900_000)}` } });
    const got = await gateway.call(COMMENT);
    expectError(got, 400, 'upstream_bad_request');
    expect(got.bytes.length).toBeLessThan(10_000);
  });
});

describe('slow bodies', () => {
  it('hold no upstream slot for a client that disconnects in the middle of its body', async () => {
    const client = await connectRaw(port());
    client.send(...uploadHead(ADMIN, 'X-Request-Id: left-in-the-middle'), 'Content-Length: 1000', '', '{"content":');
    await until(() => gateway.gateway.services.upstream.stats().inFlight === 0);
    client.socket.destroy();
    expect(await gateway.lineOf('left-in-the-middle')).toMatchObject({ status: 0 });
    expect(fake.requests).toHaveLength(0);
  });

  it('that never end do not delay other callers', async () => {
    const narrow = await startTestGateway({ upstream: fake, config: { upstream: { concurrency: 1, queue: 0 } } });
    const client = await connectRaw(Number(new URL(narrow.url).port));
    client.send(...uploadHead(ADMIN), 'Content-Length: 1000', '', '{"content":');
    expect((await narrow.call(COMMENT)).status).toBe(200);
    client.socket.destroy();
  });

  it('get a 100 Continue for an expectation, and are not awaited after a refusal', async () => {
    const client = await connectRaw(port());
    client.send(...uploadHead(ADMIN, 'Expect: 100-continue'), 'Content-Length: 29', 'Connection: close', '', '');
    await client.until(/^HTTP\/1\.1 100 /);
    client.send('{"content":"username\\nbob\\n"}');
    expect(await client.until(/\r\n\r\n[\s\S]*\r\n\r\n/)).toMatch(/HTTP\/1\.1 201 /);
    expect(fake.requests.at(-1)?.headers.expect).toBeUndefined();
    const refused = await connectRaw(port());
    refused.send(...uploadHead('Expect: 100-continue'), 'Content-Length: 29', '', '');
    expect(await refused.until(/HTTP\/1\.1 401 /)).toBeDefined();
    refused.socket.destroy();
  });
});
