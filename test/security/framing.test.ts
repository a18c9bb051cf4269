import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: a message is written so that Portico and the server behind it (or a load balancer in front of it)
 * disagree on where it ends. What one of them reads as the body, the other reads as the next request. That request has
 * not been checked, and it arrives on a connection used by other callers. Therefore, ambiguous messages are refused
 * before anything is sent upstream (test/trust/raw-cases.ts lists them), and accepted messages are forwarded with new
 * framing.
 */

const UPLOAD = '/services/v2/users/gdpr/upload.json';
const PASSED = '/services/v2/anything';
const BODY = '{"content":"username\\nbob\\n"}';
const HIDDEN = 'DELETE /services/v2/admin HTTP/1.1\r\nHost: x\r\n\r\n';

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const undocumented = { allow: [{ method: '*', path: '/services/v2/**' }] };
  for (const mode of ['strict', 'observe'])
    gateways.set(mode, await startTestGateway({ upstream: fake, config: { mode, undocumented } }));
});
beforeEach(() => {
  fake.requests.length = 0;
});

/** The ways into the gateway: plans that read the body, plans that stream it, and undocumented paths. */
const WAYS = [
  ['a documented address', 'strict', UPLOAD],
  ['a documented address in observe mode', 'observe', UPLOAD],
  ['an undocumented address', 'strict', PASSED],
  ['an undocumented address in observe mode', 'observe', PASSED],
] as const;

const port = (mode: string) => Number(new URL(gateways.get(mode)?.url ?? '').port);
const head = (target: string, ...fields: string[]) => [
  `POST ${target} HTTP/1.1`,
  'Host: public.example',
  `Authorization: ${basic('admin')}`,
  'Content-Type: application/json',
  'Portico-Force: true',
  ...fields,
  '',
];
/** Sends lines over a new connection. Returns everything received until the connection is closed. */
const send = (mode: string, ...lines: string[]) => sendRaw(port(mode), lines.join('\r\n'));
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
const asked = () => fake.requests.map(({ method, path }) => `${method} ${path}`);

describe.each(WAYS)('on %s (%s)', (_name, mode, target) => {
  it('keeps a request inside a body with a length part of that body', async () => {
    const inner = `${BODY.slice(0, -1)},"x":"${'y'.repeat(10)}"}`;
    const length = `Content-Length: ${inner.length}`;
    const text = await send(mode, ...head(target, length, 'Connection: close'), inner);
    expect(statuses(text)).toHaveLength(1);
    expect(fake.requests.map((request) => request.body.toString())).toEqual([inner]);
  });

  it('checks the next message on the connection as a separate request', async () => {
    const second = head('/services/v2/node/1', 'Content-Length: 0', 'Connection: close')
      .join('\r\n')
      .replace('Authorization', 'X-Nothing');
    const text = await send(mode, ...head(target, `Content-Length: ${BODY.length}`), `${BODY}${second}\r\n`);
    const [, status] = statuses(text);
    expect(status).toBe(mode === 'strict' ? '401' : '404');
    if (mode === 'strict') expect(asked()).toEqual([`POST ${target}`]);
  });

  it('writes new framing for the upstream', async () => {
    const chunked = [
      '3;a=b',
      BODY.slice(0, 3),
      (BODY.length - 3).toString(16),
      BODY.slice(3),
      '0',
      'X-Trailer: 1',
      '',
      '',
    ];
    const text = await send(
      mode,
      ...head(target, 'Transfer-Encoding: chunked', 'Connection: close, Content-Length'),
      ...chunked,
    );
    expect(statuses(text)).toHaveLength(1);
    expect(fake.requests.map(({ body }) => body.toString())).toEqual([BODY]);
    expect(JSON.stringify(fake.requests[0]?.rawHeaders)).not.toMatch(/trailer|a=b/i);
  });
});

describe('an unexpected body', () => {
  it.each(['/services/v2/comment/271.json', '/services/v2/question.json'])(
    'is refused for %s, and does not become the next request',
    async (target) => {
      const fields = head(target, `Content-Length: ${HIDDEN.length}`, 'Connection: close').join('\r\n');
      const text = await send('strict', `${fields.replace('POST', 'GET')}\r\n${HIDDEN}`);
      expect(statuses(text)).toEqual(['400']);
      expect(asked()).toEqual([]);
    },
  );
});

describe('a header folded over two lines', () => {
  it.each(WAYS)('is refused or reaches the upstream as one line on %s (%s)', async (_name, mode, target) => {
    const fields = [`Content-Length: ${BODY.length}`, 'X-A: 1\r\n Transfer-Encoding: chunked', 'Connection: close'];
    await send(mode, ...head(target, ...fields), BODY);
    for (const { headers, body } of fake.requests) {
      expect(headers).not.toHaveProperty('transfer-encoding');
      expect(body.toString()).toBe(BODY);
    }
    expect(asked().filter((line) => line !== `POST ${target}`)).toEqual([]);
  });
});

describe('two Authorization headers', () => {
  // Portico would check the first header, and a server behind it might use the other.
  it.each(WAYS)('are refused on %s (%s), whatever they contain', async (_name, mode, target) => {
    for (const second of [basic('bob'), basic('admin'), '']) {
      const fields = [`Content-Length: ${BODY.length}`, `authorization: ${second}`, 'Connection: close'];
      const text = await send(mode, ...head(target, ...fields), BODY);
      expect(statuses(text)).toEqual(['400']);
      expect(text).toContain('one Authorization header');
    }
    expect(asked()).toEqual([]);
  });
});

describe('a request without a Host header or with two', () => {
  it('is refused', async () => {
    const none = head(PASSED, 'Connection: close').filter((line) => !line.startsWith('Host'));
    expect(statuses(await send('strict', ...none, ''))).toEqual(['400']);
    const two = head(PASSED, 'Host: other.example', 'Content-Length: 0', 'Connection: close');
    expect(statuses(await send('strict', ...two, ''))).toEqual(['400']);
    expect(asked()).toEqual([]);
  });
});
