import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * Two attacks. Header injection: a value from the client or the upstream contains a line break. If it is copied into a
 * message, it adds headers, or a whole response, chosen by the attacker. Prototype pollution: a query, path or body
 * contains a name such as `__proto__` or `constructor`. Storing a value under this name in an object can change all
 * objects, and looking up the name in an object can find an inherited value.
 */

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
const allow = [{ method: '*', path: '/services/v2/**' }];
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  for (const mode of ['strict', 'staging', 'observe'])
    gateways.set(mode, await startTestGateway({ upstream: fake, config: { mode, undocumented: { allow } } }));
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});
const gatewayOf = (mode: string) => gateways.get(mode) as TestGateway;

const MODES = ['strict', 'staging', 'observe'];
const COMMENT = '/services/v2/comment/271.json';
const ODD = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__'];

describe.each(MODES)('line breaks in %s', (mode) => {
  it.each(['%0d%0aX-Injected:%201', '%0aSet-Cookie:%20a=b', '%e5%98%8a%e5%98%8dX-Injected:%201'])(
    'that are encoded in a query or a path never become real ones: %s',
    async (text) => {
      const targets = [
        `${COMMENT}?include=${text}`,
        `/services/v2/comment/${text}.json`,
        `/services/v2/any/${text}?${text}`,
      ];
      for (const target of targets) {
        const reply = await gatewayOf(mode).call(target);
        expect(reply.headers).not.toHaveProperty('x-injected');
        expect(reply.headers).not.toHaveProperty('set-cookie');
      }
      for (const { headers, target } of fake.requests) {
        expect(headers).not.toHaveProperty('x-injected');
        expect(target).not.toMatch(/[\r\n]/);
      }
    },
  );

  it('in a request id or a trace id are never repeated', async () => {
    const odd = ['a b', 'x'.repeat(200), 'é', 'a"b', '<b>', 'a,b', ''];
    for (const id of odd) {
      const headers = { 'X-Request-Id': Buffer.from(id).toString('latin1'), traceparent: id.slice(0, 5) + '%0d%0a' };
      const reply = await gatewayOf(mode).call(COMMENT, { headers });
      expect(reply.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
      expect(fake.requests.at(-1)?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    }
  });

  it("that the upstream writes into its response end that response, not the client's", async () => {
    fake.handler = (_request, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nX-A: 1\nX-Injected: 1\r\nContent-Length: 2\r\n\r\n{}');
      return undefined;
    };
    for (const target of [COMMENT, '/services/v2/any.json']) {
      const reply = await gatewayOf(mode).call(target);
      expect(reply.headers).not.toHaveProperty('x-injected');
      expect(reply.status).toBe(502);
    }
  });

  it("in a caller's name do not reach a header", async () => {
    const name = 'alice\r\nX-Injected: 1';
    const reply = await gatewayOf(mode).call(COMMENT, { user: name });
    expect(reply.headers).not.toHaveProperty('x-injected');
    for (const { headers } of fake.requests) expect(headers).not.toHaveProperty('x-injected');
  });
});

describe("client headers with the names of Portico's own", () => {
  const FORGED = {
    'X-Forwarded-For': '10.0.0.1',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-User': 'admin',
    Forwarded: 'for=10.0.0.1;host=evil.example',
    'X-Real-IP': '10.0.0.1',
  };
  it.each(MODES)('are neither trusted nor forwarded in %s', async (mode) => {
    for (const target of [COMMENT, '/services/v2/any.json']) {
      await gatewayOf(mode).call(target, { headers: FORGED });
      const { headers } = fake.requests.at(-1) ?? { headers: {} };
      expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
      for (const name of ['forwarded', 'x-real-ip', 'x-forwarded-user']) expect(headers).not.toHaveProperty(name);
      expect(JSON.stringify(headers)).not.toMatch(/evil|10\.0\.0\.1/);
    }
  });
  // Portico and the upstream must base their decisions on the same credential.
  it.each(MODES)(
    'do not remove the credential or a header that Portico writes, even if Connection lists them, in %s',
    async (mode) => {
      const { port } = new URL(gatewayOf(mode).url);
      for (const target of [COMMENT, '/services/v2/any.json']) {
        await sendRaw(
          Number(port),
          `GET ${target} HTTP/1.1`,
          'Host: public.example',
          `Authorization: ${basic('alice')}`,
          'Connection: close, Authorization, X-Forwarded-For, X-Request-Id, Via',
          '',
          '',
        );
        const { headers } = fake.requests.at(-1) ?? { headers: {} };
        expect(headers).toMatchObject({ authorization: basic('alice'), 'x-forwarded-for': '127.0.0.1' });
        expect(headers).toHaveProperty('x-request-id');
      }
    },
  );
});

/** Fails if new objects inherit additional properties. */
function expectCleanPrototypes(): void {
  const probe: Record<string, unknown> = {};
  expect(probe['polluted']).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
  for (const name of ['page', 'admin', 'visibility', 'status']) expect(probe[name]).toBeUndefined();
}

describe.each(MODES)('names of prototype members in %s', (mode) => {
  it.each(ODD)('count as unknown when used as a parameter: %s', async (name) => {
    for (const operation of OPERATIONS.filter(({ method }) => method === 'GET')) {
      for (const query of [`${name}=1`, `${name}[polluted]=1`, `${name}.polluted=1`, `page[${name}]=2`]) {
        const reply = await gatewayOf(mode).call(targetOf(operation, query));
        // Operation 7 reports unknown parameters and never refuses them.
        const refused = mode !== 'observe' && operation.id !== 'listActions';
        expect([operation.id, query, reply.status]).toEqual([operation.id, query, refused ? 400 : 200]);
      }
    }
    expectCleanPrototypes();
  });

  it.each(ODD)('count as an invalid number or unknown path when used as a path segment: %s', async (name) => {
    for (const target of [`/services/v2/comment/${name}.json`, `/services/v2/jobs/gdpr/${name}.json`]) {
      const reply = await gatewayOf(mode).call(target);
      expect(reply.status).toBe(mode === 'observe' ? 404 : 400);
    }
    const passed = await gatewayOf(mode).call(`/services/v2/${name}/${name}.json`, { method: 'PUT' });
    expect(passed.status).toBe(404);
    expectCleanPrototypes();
  });

  it('remain members of the body in a JSON body', async () => {
    const text =
      '{"body":"x","__proto__":{"polluted":1,"visibility":"moderators"},"constructor":{"prototype":{"polluted":1}}}';
    const headers = { 'Content-Type': 'application/json' };
    const reply = await gatewayOf(mode).call('/services/v2/node/118/comment.json', {
      method: 'POST',
      headers,
      body: text,
    });
    expect(reply.status).toBe(201);
    expect(fake.requests.at(-1)?.body.toString()).toBe(text);
    expectCleanPrototypes();
  });

  it('do not replace missing members', async () => {
    for (const text of [
      '{"__proto__":{"content":"username\\nbob\\n"}}',
      '{"__proto__":{"body":"x"},"recipients":[]}',
      '{}',
    ]) {
      const headers = { 'Content-Type': 'application/json' };
      for (const target of ['/services/v2/users/gdpr/upload.json', '/services/v2/node/118/comment.json']) {
        const reply = await gatewayOf(mode).call(target, { method: 'POST', headers, body: text });
        expect(reply.status).toBe(mode === 'observe' ? 201 : 400);
      }
    }
    expectCleanPrototypes();
  });

  it('in an upstream response reach the client unchanged', async () => {
    const example = JSON.stringify(exampleOf('getComment'));
    const text = `${example.slice(0, -1)},"__proto__":{"polluted":1},"constructor":{"polluted":1}}`;
    fake.handler = () => ({ headers: { 'Content-Type': 'application/json' }, body: text });
    expect((await gatewayOf(mode).call(COMMENT)).text).toBe(text);
    fake.handler = () => ({
      status: 400,
      body: '{"__proto__":{"error":"x"},"errors":{"__proto__":{"message":"y"}}}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect((await gatewayOf(mode).call(COMMENT)).status).toBe(400);
    expectCleanPrototypes();
  });

  it('count as an unknown caller when used as a name', async () => {
    for (const name of ODD) {
      const reply = await gatewayOf(mode).call(COMMENT, { user: name });
      expect(reply.status).toBe(mode === 'observe' ? 200 : 401);
    }
    expectCleanPrototypes();
  });
});
