import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * A server can refuse an upload before it has read the whole body: it responds and closes the connection. Because data
 * is left unread, the operating system resets the connection. The gateway's next write then fails before the gateway
 * has read the response.
 */

const SIZE = 8_000_000;
const PART = Buffer.alloc(64_000, 'x');
const REFUSAL = '{"error":"too large"}';
const HEAD = 'HTTP/1.1 413 Payload Too Large\r\nContent-Type: application/json\r\nConnection: close\r\n';

let write: (socket: Socket) => void;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  const upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      write(socket);
      // This call closes the connection after everything has been written, without reading the bytes received.
      socket.destroySoon();
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  cleanUpAfterFile(() => upstream.close());
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const config = {
    authentication: { anonymous: 'allow' },
    checks: { authentication: 'off', permissions: 'off' },
    undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] },
    listen: { maxBodyBytes: 1_000_000 },
    upstream: { circuit: { failures: 100_000 } },
  };
  for (const mode of ['strict', 'observe'])
    gateways.set(mode, await startTestGateway({ upstream: { url }, config: { ...config, mode } }));
});

/** The cases in which the gateway streams a large upload. */
const WAYS = [
  ['a documented path in observe mode', 'observe', '/services/v2/users/gdpr/upload.json'],
  ['an undocumented path in observe mode', 'observe', '/services/v2/anything'],
  ['an undocumented path', 'strict', '/services/v2/anything'],
] as const;
const FRAMINGS = ['with a length', 'in chunks'] as const;

const LAST_CHUNK = /\r\n0\r\n\r\n$/;

function isComplete(response: string): boolean {
  const [head = '', body = ''] = response.split(/\r\n\r\n(.*)/s);
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  return length === undefined ? LAST_CHUNK.test(response) : body.length === Number(length);
}

function* parts(framing: (typeof FRAMINGS)[number]): Generator<Buffer> {
  for (let sent = 0; sent < SIZE; sent += PART.length) {
    if (framing === 'with a length') yield PART;
    else yield Buffer.concat([Buffer.from(`${PART.length.toString(16)}\r\n`), PART, Buffer.from('\r\n')]);
  }
  if (framing === 'in chunks') yield Buffer.from('0\r\n\r\n');
}

/** Sends an upload. Returns the bytes that arrive before the response is complete or the connection is closed. */
async function upload(mode: string, target: string, framing: (typeof FRAMINGS)[number]): Promise<string> {
  const client = connect(Number(new URL(gateways.get(mode)?.url ?? '').port), '127.0.0.1');
  const ended = Promise.withResolvers<void>();
  let text = '';
  client.on('error', () => undefined).on('close', ended.resolve);
  client.on('data', (data) => {
    text += data.toString('latin1');
    if (isComplete(text)) ended.resolve();
  });
  const length = framing === 'with a length' ? `Content-Length: ${SIZE}` : 'Transfer-Encoding: chunked';
  const head = [`POST ${target} HTTP/1.1`, 'Host: a', `Authorization: ${basic('admin')}`, length, '', ''];
  client.write(head.join('\r\n'));
  const sending = Readable.from(parts(framing));
  sending.pipe(client);
  await ended.promise;
  sending.destroy();
  client.destroy();
  return text;
}

describe.each(WAYS)('an upload to %s', (_name, mode, target) => {
  describe.each(FRAMINGS)('%s', (framing) => {
    beforeEach(() => {
      write = (socket) => socket.write(`${HEAD}Content-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`);
    });

    it('receives the response of an upstream that closes the connection without reading it', async () => {
      const text = await upload(mode, target, framing);
      expect([text.split('\r\n')[0], text.slice(text.indexOf('\r\n\r\n') + 4)]).toEqual([
        expect.stringMatching(/^HTTP\/1\.1 413 /) as string,
        REFUSAL,
      ]);
    });

    it('receives a 502 if the upstream closes the connection without a response', async () => {
      write = () => undefined;
      expect(await upload(mode, target, framing)).toMatch(/^HTTP\/1\.1 502 /);
    });

    // A body without a length ends only when the connection ends, and a reset looks like a normal end.
    it('never receives a response without a length as if it were complete', async () => {
      write = (socket) => socket.write(`${HEAD}\r\n${REFUSAL}`);
      const text = await upload(mode, target, framing);
      if (!text.startsWith('HTTP/1.1 502 ')) expect(text).not.toMatch(LAST_CHUNK);
    });
  });
});
