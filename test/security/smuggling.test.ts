import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: two servers in a chain disagree on where a request ends. What the first server reads as a body, the
 * second server reads as another request, which has not been checked. That request evades the gateway's rules, or its
 * response goes to another caller. Therefore, ambiguous messages are refused (test/trust/raw-cases.ts), forwarded
 * messages get new framing, and unread bytes are discarded along with their connection.
 */

const QUESTIONS = '/services/v2/question.json';
const UPLOAD = '/services/v2/users/gdpr/upload.json';
const AUTHORIZATION = `Authorization: ${basic('admin')}`;
const HIDDEN = `PUT /services/v2/node/118/cancelwiki.json HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\nContent-Length: 0\r\n\r\n`;

let fake: FakeUpstream;
let strict: TestGateway;
let observing: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const allow = [{ method: '*', path: '/services/v2/**' }];
  strict = await startTestGateway({ upstream: fake, config: { undocumented: { allow }, cache: { enabled: false } } });
  observing = await startTestGateway({ upstream: fake, real: true });
});
beforeEach(() => {
  fake.requests.length = 0;
});

const sides = [
  { name: 'strict', gateway: () => strict },
  { name: 'observe', gateway: () => observing },
];
const seen = () => fake.requests.map(({ method, target }) => `${method} ${target}`);

/** Returns everything that the gateway sends in response to these bytes until it closes the connection. */
async function exchange(gateway: TestGateway, bytes: string): Promise<string> {
  const client = await connectRaw(Number(new URL(gateway.url).port));
  client.socket.write(bytes, 'latin1');
  await client.closed;
  return client.received();
}
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));

describe.each(sides)('$name', ({ gateway }) => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'keeps a request inside the body of an undocumented %s part of the body',
    async (method) => {
      for (const framing of [
        `Content-Length: ${HIDDEN.length}`,
        `content-length: ${HIDDEN.length}`,
        `CONTENT-LENGTH: ${HIDDEN.length}`,
        'Transfer-Encoding: chunked',
      ]) {
        fake.requests.length = 0;
        const body = framing.startsWith('T') ? `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n` : HIDDEN;
        const lines_ = [
          `${method} /services/v2/anything.json HTTP/1.1`,
          'Host: x',
          AUTHORIZATION,
          framing,
          'Connection: close',
        ];
        const text = await exchange(gateway(), `${lines_.join('\r\n')}\r\n\r\n${body}`);
        expect([framing, statuses(text).length]).toEqual([framing, 1]);
        expect([framing, seen()]).toEqual([framing, [`${method} /services/v2/anything.json`]]);
        expect(fake.requests[0]?.body.toString()).toBe(HIDDEN);
      }
    },
  );

  it.each(['GET', 'HEAD'])('does not execute a request inside the body of a documented %s', async (method) => {
    for (const framing of [`Content-Length: ${HIDDEN.length}`, 'Transfer-Encoding: chunked']) {
      fake.requests.length = 0;
      const body = framing.startsWith('T') ? `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n` : HIDDEN;
      const lines = [`${method} ${QUESTIONS} HTTP/1.1`, 'Host: x', AUTHORIZATION, framing, 'Connection: close'];
      const text = await exchange(gateway(), `${lines.join('\r\n')}\r\n\r\n${body}`);
      // In strict mode, the body itself is refused. In observe mode, it is forwarded as a body.
      expect(statuses(text)).toHaveLength(1);
      expect(seen().filter((line) => line !== `${method} ${QUESTIONS}`)).toEqual([]);
      for (const { body: received } of fake.requests) expect(received.toString()).toBe(HIDDEN);
    }
  });

  it('does not execute a request after one without a version', async () => {
    await exchange(gateway(), `GET ${QUESTIONS}\r\n\r\n${HIDDEN}`);
    expect(seen().filter((line) => !line.endsWith('question.json'))).toEqual([]);
  });

  it('does not upgrade a connection or open a tunnel', async () => {
    const upgrade = [
      'Connection: Upgrade, close',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Version: 13',
    ];
    await exchange(
      gateway(),
      `${['GET /services/v2/question.json HTTP/1.1', 'Host: x', AUTHORIZATION, ...upgrade].join('\r\n')}\r\n\r\n${HIDDEN}`,
    );
    expect(fake.requests.every(({ headers }) => headers.upgrade === undefined)).toBe(true);
    expect(seen().filter((line) => line.includes('cancelwiki'))).toEqual([]);
    fake.requests.length = 0;
    const tunnel = await exchange(gateway(), `CONNECT ${new URL(fake.url).host} HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`);
    expect([statuses(tunnel).filter((status) => status < 400), seen()]).toEqual([[], []]);
  });
});

describe('the unread part of a refused request', () => {
  it('is not treated as a request on the same connection', async () => {
    const refused = `POST ${UPLOAD} HTTP/1.1\r\nHost: x\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`;
    const next = `GET ${QUESTIONS} HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\nConnection: close\r\n\r\n`;
    const text = await exchange(strict, refused + next);
    expect(statuses(text)).toEqual([401, 200]);
    expect(seen()).toEqual([`GET ${QUESTIONS}`]);
  });

  it('closes the connection if it is too large', async () => {
    const length = 2_000_000;
    const lines = [
      `POST ${UPLOAD} HTTP/1.1`,
      'Host: x',
      AUTHORIZATION,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ];
    const body = HIDDEN.repeat(Math.ceil(length / HIDDEN.length)).slice(0, length);
    const client = await connectRaw(Number(new URL(strict.url).port));
    client.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}${HIDDEN}`);
    await client.closed;
    expect(statuses(client.received()).filter((status) => status !== 413)).toEqual([]);
    expect(seen()).toEqual([]);
  });
});
