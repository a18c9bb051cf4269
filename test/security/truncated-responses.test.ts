import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ClientResponse, basic, type Call } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: a response without a length ends when its connection ends. If an attacker between Portico and the
 * upstream resets that connection, or if the upstream's process is killed, the received part looks like the whole body:
 * a page without its last items, half an export or a truncated file. If that part is stored, or forwarded as a complete
 * 200 response, nobody notices the loss. Therefore, only a clean end of the connection ends a body. After a reset,
 * Portico breaks the client's connection, or sends a 502 if it has not replied yet.
 */

const DOCUMENTED = '/services/v2/comment/271.json';
const LIST = '/services/v2/question.json';
const UPLOAD = '/services/v2/users/gdpr/upload.json';
const PASSED = '/services/v2/any.json';
const BODY = JSON.stringify(exampleOf('getComment'));
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const MODES = ['strict', 'staging', 'observe'];

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ status: 404 }));
  const allow = [{ method: '*', path: '/services/v2/**' }];
  // Every case requests the same page.
  const cache = { failures: { after: 0 } };
  const config = {
    cache,
    undocumented: { allow },
    upstream: { maxResponseBytes: 65_536, circuit: { failures: 100_000 } },
  };
  for (const mode of MODES) gateways.set(mode, await startTestGateway({ upstream: fake, config: { ...config, mode } }));
});

/** Calls the gateway. The upstream writes these bytes to its socket and then closes the connection. */
async function call(
  mode: string,
  target: string,
  parts: readonly (string | Buffer)[],
  ending: Cancellation,
  more?: Call,
) {
  respondWith(parts, ending);
  const gateway = gateways.get(mode) as TestGateway;
  const broken = { status: 0, complete: false, text: '' } as ClientResponse;
  return gateway.call(target, more).catch(() => broken);
}

/** Makes the upstream write these bytes to its socket and then close the connection. */
function respondWith(parts: readonly (string | Buffer)[], ending: Cancellation): void {
  fake.handler = async (_request, response: ServerResponse) => {
    const { socket } = response;
    for (const part of parts) {
      socket?.write(part);
      // A reset discards bytes that were received but not yet read.
      for (let turns = 0; turns < 10; turns += 1) await turn();
    }
    if (ending === 'reset') socket?.resetAndDestroy();
    else socket?.end();
    return undefined;
  };
}
type Cancellation = 'reset' | 'end';

/** Expects a broken connection or one of the gateway's own errors, never a complete success response. */
function expectBroken(reply: ClientResponse, target: string): void {
  if (reply.complete)
    expect([target, reply.status, reply.json?.code]).toEqual([
      target,
      502,
      expect.stringMatching(/^upstream_(?:reset|response_too_large)$/),
    ]);
}

const CUT = {
  'before its first byte': [`${HEAD}Connection: close\r\n\r\n`],
  'in the middle': [`${HEAD}Connection: close\r\n\r\n`, BODY.slice(0, 60)],
  'after what could be the complete body': [`${HEAD}Connection: close\r\n\r\n`, BODY],
  'in HTTP/1.0': ['HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n', BODY],
  'with a declared length': [`${HEAD}Content-Length: ${BODY.length}\r\n\r\n`, BODY.slice(0, 60)],
  'in chunks': [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `${BODY.length.toString(16)}\r\n${BODY}\r\n`],
};

describe.each(MODES)('in %s', (mode) => {
  it.each(Object.entries(CUT))('a body reset %s does not count as complete', async (_name, parts) => {
    for (const target of [DOCUMENTED, LIST, PASSED]) expectBroken(await call(mode, target, parts, 'reset'), target);
  });

  it('a page cut off by a reset is not stored: the next call gets the upstream’s next response', async () => {
    const page = JSON.stringify(exampleOf('listQuestions'));
    await call(mode, LIST, [`${HEAD}Connection: close\r\n\r\n`, page], 'reset');
    const next = await call(mode, LIST, [`${HEAD}Connection: close\r\n\r\n`, page.replace('{', '{ ')], 'end');
    expect([next.status, next.text]).toEqual([200, page.replace('{', '{ ')]);
  });

  it('a write whose response is cut off by a reset does not count as a success', async () => {
    const more = { method: 'POST', body: { content: 'username\nbob\n' }, headers: { 'Portico-Force': 'true' } };
    const created = HEAD.replace('200 OK', '201 Created');
    for (const target of [UPLOAD, PASSED])
      expectBroken(await call(mode, target, [`${created}\r\n`, '{"fileId":1}'], 'reset', more), target);
  });

  it('a body too large for memory does not count as complete if it is reset', async () => {
    const parts = [`${HEAD}Connection: close\r\n\r\n`, Buffer.alloc(200_000, ' '), BODY];
    for (const target of [DOCUMENTED, PASSED]) expectBroken(await call(mode, target, parts, 'reset'), target);
  });

  it('a connection that ends cleanly, or is reset after a complete response, causes no failure', async () => {
    const counted = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
    for (const target of [DOCUMENTED, PASSED]) {
      for (const [parts, ending] of [
        [[`${HEAD}Connection: close\r\n\r\n`, BODY], 'end'],
        [[counted], 'reset'],
      ] as const) {
        const reply = await call(mode, target, parts, ending);
        expect([reply.status, reply.complete, reply.text]).toEqual([200, true, BODY]);
      }
    }
  });

  it('a response without a body is complete at its head, whatever happens to the connection', async () => {
    const head = await call(mode, PASSED, [`${HEAD}Connection: close\r\n\r\n`], 'reset', { method: 'HEAD' });
    expect([head.status, head.complete]).toEqual([200, true]);
    for (const status of ['204 None', '304 Same']) {
      const reply = await call(mode, PASSED, [`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`], 'reset');
      expect([reply.status, reply.complete]).toEqual([Number(status.slice(0, 3)), true]);
    }
    // In the other modes, Portico fetches the whole page for a documented HEAD request.
    if (mode !== 'observe') return;
    const documented = await call(mode, DOCUMENTED, [`${HEAD}Connection: close\r\n\r\n`], 'reset', { method: 'HEAD' });
    expect([documented.status, documented.complete]).toEqual([200, true]);
  });
});

/*
 * A body without a length and without chunks ends for an HTTP/1.0 client where the connection ends. An ordinary close
 * therefore looks like the end of the body, so Portico resets the connection.
 */
describe.each(MODES)('in %s, an HTTP/1.0 client', (mode) => {
  /** Sends the request, and returns what the client received and how the connection ended. */
  const callOld = (target: string) =>
    new Promise<{ readonly text: string; readonly ending: string }>((resolve) => {
      const { port } = new URL((gateways.get(mode) as TestGateway).url);
      let [text, ending] = ['', 'end'];
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('data', (part) => (text += part.toString('latin1')));
      socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => (ending = code));
      socket.on('close', () => resolve({ text, ending }));
      socket.write(`GET ${target} HTTP/1.0\r\nHost: a\r\nAuthorization: ${basic('admin')}\r\n\r\n`);
    });

  it.each([
    ['reset', '{"a"', 4],
    ['reset, which is too large for memory', `${' '.repeat(200_000)}{`, 200_001],
  ])('notices a body without a length that was %s', async (_name, body, bytes) => {
    for (const target of [DOCUMENTED, LIST, PASSED]) {
      respondWith([`${HEAD}Connection: close\r\n\r\n`, body], 'reset');
      const { text, ending } = await callOld(target);
      if (text.startsWith('HTTP/1.1 502')) continue;
      expect([target, ending]).toEqual([target, 'ECONNRESET']);
      // The length of the received part never becomes the length of the body.
      expect(text).not.toMatch(/^content-length:/im);
      expect(text.length).toBeLessThan(bytes + 1_000);
    }
  });

  it('gets a complete body without a length with a clean end', async () => {
    respondWith([`${HEAD}Connection: close\r\n\r\n`, BODY], 'end');
    for (const target of [DOCUMENTED, PASSED]) {
      const { text, ending } = await callOld(target);
      expect([ending, text.endsWith(BODY)]).toEqual(['end', true]);
    }
  });
});

it('the verdict on a body that is known to be incomplete is `incomplete`, never `conforming`', async () => {
  const gateway = gateways.get('observe') as TestGateway;
  respondWith([`${HEAD}Connection: close\r\n\r\n`, '{"a"'], 'reset');
  const { port } = new URL(gateway.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (part) => (text += part.toString('latin1')));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(`GET ${DOCUMENTED} HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic('admin')}\r\n\r\n`);
  await closed;
  expect(text).toMatch(/^contract-status: incomplete; skipped=truncated/im);
  const id = /^x-request-id: (\S+)/im.exec(text)?.[1] ?? '';
  expect(await gateway.lineOf(id)).toMatchObject({ status: 0, upstream: { shape: 'truncated' } });
});

const CODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  'deflate (bare)': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

describe('a truncated compressed body', () => {
  // The connection ends cleanly, so only the coding shows that the body is truncated.
  it.each(Object.entries(CODERS))('is not a success if the coding is decoded: %s', async (name, code) => {
    const coding = name.replace(/ .*/, '');
    const whole = code(BODY);
    for (const length of [1, 5, 12, Math.floor(whole.length / 2), whole.length - 1]) {
      const head = `${HEAD}Content-Encoding: ${coding}\r\nConnection: close\r\n\r\n`;
      const reply = await call('strict', DOCUMENTED, [head, whole.subarray(0, length)], 'end');
      expect([length, reply.status, reply.json?.code]).toEqual([length, 502, 'upstream_reset']);
    }
  });

  it.each(Object.entries(CODERS))(
    'keeps its bytes and coding in observe mode, so that the client can detect it: %s',
    async (name, code) => {
      const coding = name.replace(/ .*/, '');
      const cut = code(BODY).subarray(0, 20);
      for (const target of [DOCUMENTED, PASSED]) {
        const head = `${HEAD}Content-Encoding: ${coding}\r\nConnection: close\r\n\r\n`;
        const reply = await call('observe', target, [head, cut], 'end');
        expect([reply.status, reply.headers['content-encoding'], reply.bytes]).toEqual([200, coding, cut]);
      }
    },
  );
});
