import { getEventListeners, once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { queryObjects } from 'node:v8';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Client } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import type { HeaderPairs } from '../../../src/engine/model/header-pairs.ts';
import type { Upstream } from '../../../src/engine/upstream/create-upstream.ts';
import { decodeForInspection } from '../../../src/engine/upstream/response-body.ts';
import { freePort } from '../../../bench/free-port.ts';
import { failInvalidNames } from '../../builders/invalid-names.ts';
import { reply, startRawServer, type RawRequest } from './support/raw-server.ts';
import { selfSigned } from './support/self-signed.ts';
import { createUpstream } from '../../../src/engine/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { upstreamAt } from './support/settings.ts';
import { textOf } from '../../builders/exchange.ts';
import { drain, endOf, streamOf } from '../../builders/streamed-body.ts';
import { until } from '../../builders/until.ts';
import { watchTimers } from '../../builders/watch-timers.ts';

const noHeaders: HeaderPairs = [];
const get = { method: 'GET', target: '/a.json', headers: noHeaders, mode: 'buffered' } as const;
const post = { ...get, method: 'POST', body: Buffer.from('{"x":1}') } as const;
const observed = { ...get, mode: 'transparent' } as const;

const ok = (request: RawRequest) => reply(request, 200, 'x');
const half = (request: RawRequest) => request.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345');

describe('a request to the upstream', () => {
  it('has the base path in front of its raw target', async () => {
    const server = await startRawServer(ok);
    await upstreamAt(server.origin, {}, { basePath: '/qa' }).exchange({ ...get, target: '//evil/%2e\\..;x?q=b%20c|d' });
    expect(server.requests[0]?.head).toMatch(
      /^GET \/qa\/\/evil\/%2e\\\.\.;x\?q=b%20c\|d HTTP\/1\.1\r\nhost: 127\.0\.0\.1:/i,
    );
  });

  it.each(['http://evil/x', 'x', '', '/a b', '/a\r\nX: y', '/a\0', '/\u2603'])(
    'is never sent with the target %j',
    async (target) => {
      const server = await startRawServer(ok);
      await expect(upstreamAt(server.origin).exchange({ ...get, target })).rejects.toMatchObject({
        code: 'unsafe_path',
      });
      expect(server.requests).toEqual([]);
    },
  );

  it('contains end-to-end headers in order, without hop-by-hop ones and the client’s host, length and Expect', async () => {
    const server = await startRawServer(ok);
    const headers: HeaderPairs = [
      ['X-Twice', '1'],
      ['Connection', 'close, X-Named'],
      ['x-named', 'dropped'],
      ['TE', 'trailers'],
      ['Proxy-Authorization', 'dropped'],
      ['Expect', '100-continue'],
      ['Host', 'evil.example'],
      ['Content-Length', '999'],
      ['x-twice', '2'],
    ];
    await upstreamAt(server.origin).exchange({ ...post, headers });
    const lines = server.requests[0]?.head.split('\r\n').slice(1) ?? [];
    expect(lines.filter((line) => /^x-|^proxy|^te:|^expect/i.test(line))).toEqual(['X-Twice: 1', 'x-twice: 2']);
    expect(lines.filter((line) => /evil|^content-length: 999/i.test(line))).toEqual([]);
    expect(server.requests[0]?.body).toBe('{"x":1}');
  });

  it('streams a body with the length that its sender declared', async () => {
    const server = await startRawServer(ok);
    const body = Readable.from([Buffer.from('abc'), Buffer.from('def')]);
    await upstreamAt(server.origin).exchange({ ...post, body, headers: [['Content-Length', '6']] });
    expect(server.requests[0]).toMatchObject({
      body: 'abcdef',
      head: expect.stringMatching(/content-length: 6/i) as string,
    });
  });
});

describe('a buffered response', () => {
  it.each([
    ['gzip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['deflate', deflateSync('hello')],
    ['deflate', deflateRawSync('hello')],
    ['br', brotliCompressSync('hello')],
    ['zstd', zstdCompressSync('hello')],
    ['GZIP, br', brotliCompressSync(gzipSync('hello'))],
    ['identity', Buffer.from('hello')],
  ])('arrives without its content coding %s and with a recalculated length', async (coding, bytes) => {
    const server = await startRawServer((request) =>
      reply(request, 200, bytes, `Content-Encoding: ${coding}`, 'ETag: "a"'),
    );
    const exchanged = await upstreamAt(server.origin).exchange(get);
    expect(textOf(exchanged.body)).toBe('hello');
    expect(exchanged.headers).toEqual([
      ['ETag', '"a"'],
      ['Content-Length', '5'],
    ]);
  });

  it('keeps an unknown content coding and its header', async () => {
    const server = await startRawServer((request) => reply(request, 200, 'zzz', 'Content-Encoding: compress'));
    const exchanged = await upstreamAt(server.origin).exchange(get);
    expect(exchanged.headers).toContainEqual(['Content-Encoding', 'compress']);
    expect(textOf(exchanged.body)).toBe('zzz');
  });

  it('has no hop-by-hop headers and keeps repeated ones in order', async () => {
    const fields = [
      'Set-Cookie: a=1',
      'Connection: keep-alive, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=9',
      'Proxy-Authenticate: Basic',
      'Upgrade: h2c',
      'Set-Cookie: b=2',
    ];
    const server = await startRawServer((request) => reply(request, 200, 'x', ...fields));
    const exchanged = await upstreamAt(server.origin).exchange(get);
    expect(exchanged.headers).toEqual([
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['Content-Length', '1'],
    ]);
  });

  it.each(['buffered', 'transparent'] as const)(
    'arrives after interim responses, on a connection that is reused (%s)',
    async (mode) => {
      const server = await startRawServer((request) => {
        request.socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
        reply(request, 404, 'none');
      });
      const upstream = upstreamAt(server.origin);
      for (let turn = 0; turn < 3; turn += 1) {
        expect(await upstream.exchange({ ...get, mode })).toMatchObject({
          status: 404,
          body: Buffer.from('none'),
          attempts: 1,
        });
        // undici waits for one turn of the event loop before it reuses a connection.
        await setImmediate();
      }
      expect(server.accepted()).toBe(1);
    },
  );

  it('has not begun if the connection breaks after interim responses only', async () => {
    const server = await startRawServer((request) =>
      request.socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    );
    await expect(upstreamAt(server.origin).exchange(get)).rejects.toMatchObject({ kind: 'reset' });
  });

  // Each coding can multiply the size of a small body, so more than two codings are a sign of a decompression bomb.
  it('with more than two content codings is not decoded', async () => {
    const bytes = gzipSync(gzipSync(gzipSync('hello')));
    const server = await startRawServer((request) =>
      reply(request, 200, bytes, 'Content-Encoding: gzip, gzip', 'Content-Encoding: gzip'),
    );
    const exchanged = await upstreamAt(server.origin).exchange(get);
    expect(exchanged.body).toEqual(bytes);
    expect(exchanged.headers).toContainEqual(['Content-Encoding', 'gzip, gzip']);
  });

  it("to a HEAD request has no body and the length of GET's response", async () => {
    const server = await startRawServer((request) =>
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n'),
    );
    const exchanged = await upstreamAt(server.origin).exchange({ ...get, method: 'HEAD' });
    expect(exchanged).toMatchObject({ body: Buffer.alloc(0), headers: [['Content-Length', '99999999']] });
  });

  it('that is too large once decoded is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
    const server = await startRawServer((request) => reply(request, 200, bomb, 'Content-Encoding: gzip'));
    const exchange = upstreamAt(server.origin, { maxResponseBytes: 64 * 1024 }).exchange(get);
    await expect(exchange).rejects.toMatchObject({ kind: 'too_large' });
  });

  it.each([
    ['declared', 'Content-Length: 2000\r\n\r\n'],
    ['chunked', `Transfer-Encoding: chunked\r\n\r\n7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n`],
  ])('that is larger than the bound is refused if its length is %s', async (_kind, rest) => {
    const server = await startRawServer((request) => request.socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
    const exchange = upstreamAt(server.origin, { maxResponseBytes: 1024 }).exchange(get);
    await expect(exchange).rejects.toMatchObject({ kind: 'too_large' });
  });

  it.each([
    ['declared', 'Content-Length: 1024\r\n\r\n', ''],
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n400\r\n', '\r\n0\r\n\r\n'],
  ])('may be exactly as large as the bound if its length is %s', async (_kind, before, after) => {
    const body = 'x'.repeat(1024);
    const server = await startRawServer((request) =>
      request.socket.write(`HTTP/1.1 200 OK\r\n${before}${body}${after}`),
    );
    const upstream = upstreamAt(server.origin, { maxResponseBytes: 1024 });
    for (const request of [get, observed])
      expect(await upstream.exchange(request)).toMatchObject({ body: Buffer.from(body) });
  });

  it.each([
    ['its length is not reached', 'Content-Length: 10\r\n\r\n12345'],
    ['its chunks are cut short', 'Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n'],
    ['a chunk is damaged', 'Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nzz\r\n'],
  ])('is truncated if %s', async (_case, rest) => {
    const server = await startRawServer((request) => request.socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
    await expect(upstreamAt(server.origin).exchange(get)).rejects.toMatchObject({ kind: 'truncated' });
  });

  it('is truncated if its compressed content is cut short, even if its length is reached', async () => {
    const cut = gzipSync('hello hello hello').subarray(0, 20);
    const server = await startRawServer((request) => reply(request, 200, cut, 'Content-Encoding: gzip'));
    await expect(upstreamAt(server.origin).exchange(get)).rejects.toMatchObject({ kind: 'truncated' });
  });
});

describe('a transparent response', () => {
  it('keeps every byte and its content coding, which can be decoded for inspection', async () => {
    const bytes = gzipSync('hello');
    const server = await startRawServer((request) => reply(request, 500, bytes, 'Content-Encoding: gzip'));
    const exchanged = await upstreamAt(server.origin).exchange(observed);
    expect(exchanged.body).toEqual(bytes);
    expect(exchanged.headers).toEqual([
      ['Content-Encoding', 'gzip'],
      ['Content-Length', String(bytes.length)],
    ]);
    expect(await decodeForInspection(exchanged, 100)).toEqual(Buffer.from('hello'));
    expect(await decodeForInspection(exchanged, 4)).toBeUndefined();
  });

  it('is reported as damaged if its content coding is invalid', async () => {
    const cut = gzipSync('hello').subarray(0, 12);
    const server = await startRawServer((request) => reply(request, 200, cut, 'Content-Encoding: gzip'));
    const exchanged = await upstreamAt(server.origin).exchange(observed);
    expect(exchanged.body).toEqual(cut);
    expect(await decodeForInspection(exchanged, 100)).toBe('damaged');
  });

  it('is streamed completely and in order if it is larger than the bound', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const server = await startRawServer((request) => reply(request, 200, bytes));
    const exchanged = await upstreamAt(server.origin, { maxResponseBytes: 1024 }).exchange(observed);
    expect(Buffer.isBuffer(exchanged.body)).toBe(false);
    expect(await decodeForInspection(exchanged, 1_000_000)).toBeUndefined();
    expect((await drain(exchanged.body)).bytes.equals(bytes)).toBe(true);
  });

  it('returns the received part of a broken body and then breaks', async () => {
    const server = await startRawServer(half);
    const exchanged = await upstreamAt(server.origin).exchange(observed);
    const { bytes, failure } = await drain(exchanged.body);
    expect(bytes.toString()).toBe('12345');
    expect(failure).toMatchObject({ kind: 'truncated' });
  });

  it('also breaks if a large body breaks after it was returned', async () => {
    const server = await startRawServer((request) => {
      request.socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(400_000)}`);
    });
    const exchanged = await upstreamAt(server.origin, { maxResponseBytes: 1024 }).exchange(observed);
    const { bytes, failure } = await drain(exchanged.body);
    expect(bytes.length).toBe(400_000);
    expect(failure).toMatchObject({ kind: 'truncated' });
  });

  it('frees its slot and is a stream until it is read or abandoned, which is not an upstream failure', async () => {
    const server = await startRawServer((request) => reply(request, 200, Buffer.alloc(3_000_000)));
    const upstream = upstreamAt(server.origin, { maxResponseBytes: 1024, circuit: { failures: 1, openSeconds: 5 } });
    const exchanged = await upstream.exchange(observed);
    expect(upstream.stats()).toMatchObject({ inFlight: 0, streams: 1 });
    streamOf(exchanged.body).destroy();
    expect(upstream.stats()).toMatchObject({ inFlight: 0, streams: 0, circuit: 'closed' });
  });

  it('is not abandoned after a pause that its reader has ended', async () => {
    const bytes = Buffer.alloc(3_000_000);
    const server = await startRawServer((request) => {
      request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length + 1}\r\n\r\n`);
      request.socket.write(bytes);
    });
    const clientTimeoutMs = 59_999;
    const upstream = upstreamAt(server.origin, { maxResponseBytes: 1024, clientTimeoutMs });
    const exchanged = await upstream.exchange(observed);
    const body = streamOf(exchanged.body);
    const pauses = watchTimers(clientTimeoutMs);
    let received = 0;
    body.read({
      part(part) {
        received += part.length;
        void setImmediate().then(() => body.resume());
        return false;
      },
      end: () => undefined,
    });
    await until(() => received === bytes.length);
    await setImmediate();
    // No timeout is active anymore, so the last byte may arrive at any time.
    expect(pauses.started()).toBeGreaterThan(0);
    expect(pauses.running()).toBe(0);
    server.requests[0]?.socket.write('x');
    expect(await endOf(body)).toBeUndefined();
    expect(received).toBe(bytes.length + 1);
  });

  it('is abandoned if its reader pauses for too long', async () => {
    const server = await startRawServer((request) => reply(request, 200, Buffer.alloc(9_000_000)));
    const upstream = upstreamAt(server.origin, { maxResponseBytes: 1024, clientTimeoutMs: 20 });
    const exchanged = await upstream.exchange(observed);
    await expect.poll(() => upstream.stats().streams).toBe(0);
    expect(await endOf(exchanged.body)).toMatchObject({ kind: 'aborted' });
  });
});

/** Returns the number of undici clients in memory. */
const clients = () => Number(queryObjects(Client));

describe('a connection', () => {
  it('is reused for safe requests', async () => {
    const server = await startRawServer(ok);
    const upstream = upstreamAt(server.origin);
    for (let count = 0; count < 3; count += 1) {
      await upstream.exchange(get);
      await setImmediate();
    }
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 1]);
    expect(upstream.stats().openConnections).toBe(1);
  });

  it('is replaced once for a safe request if it closed before any byte of the response', async () => {
    const server = await startRawServer((request) =>
      request.turn === 2 ? request.socket.resetAndDestroy() : ok(request),
    );
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    expect(await upstream.exchange(get)).toMatchObject({ status: 200, attempts: 2 });
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 2]);
  });

  it('is also replaced if it closes before the request is written', async () => {
    const server = await startRawServer(ok);
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    for (const socket of server.sockets) socket.resetAndDestroy();
    expect(await upstream.exchange(get)).toMatchObject({ status: 200, attempts: 2 });
    expect(server.requests.map((request) => request.connection)).toEqual([1, 2]);
  });

  it('is not replaced a second time', async () => {
    const server = await startRawServer((request) =>
      request === server.requests[0] ? ok(request) : request.socket.resetAndDestroy(),
    );
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(3);
  });

  it('is not replaced for a client that has disconnected, so its request is not sent again', async () => {
    const client = new AbortController();
    const server = await startRawServer((request) => (request.turn === 1 ? ok(request) : client.abort()));
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    await expect(upstream.exchange({ ...get, signal: client.signal })).rejects.toMatchObject({ kind: 'aborted' });
    expect(server.requests).toHaveLength(2);
    expect(upstream.stats().retries).toEqual({ succeeded: 0, failed: 0, refused: 0 });
  });

  it('is replaced only as long as the retry budget allows it', async () => {
    // The server closes every connection on its second request.
    const server = await startRawServer((request) =>
      request.turn === 2 ? request.socket.resetAndDestroy() : ok(request),
    );
    const clock = createTestClock();
    const options = { concurrency: 2, retryBudget: { percent: 0, minPerSecond: 1 } };
    const upstream = upstreamAt(server.origin, options, { clock });
    const lose = async () => {
      await upstream.exchange(get);
      await setImmediate();
      const lost = upstream.exchange(get);
      await lost.catch(() => undefined);
      return lost;
    };
    expect([await lose(), await lose()]).toMatchObject([{ attempts: 2 }, { attempts: 2 }]);
    await expect(lose()).rejects.toMatchObject({ kind: 'reset' });
    expect(upstream.stats().retries).toEqual({ succeeded: 2, failed: 0, refused: 1 });
    clock.advance(1);
    expect(await lose()).toMatchObject({ attempts: 2 });
    // Eight requests were made, and three of them were sent a second time.
    expect(server.requests).toHaveLength(11);
  });

  it('is always replaced in observe mode, because clients must not notice that connections are reused', async () => {
    const server = await startRawServer((request) =>
      request.turn === 2 ? request.socket.resetAndDestroy() : ok(request),
    );
    const options = { ...UPSTREAM_DEFAULTS, retryBudget: { percent: 0, minPerSecond: 0 } };
    const upstream = createUpstream({ origin: server.origin, basePath: '' }, options, systemClock, {}, true);
    cleanUpAfterTest(() => upstream.close(0));
    await upstream.exchange(get);
    await setImmediate();
    expect(await upstream.exchange(get)).toMatchObject({ attempts: 2 });
  });

  it('is not replaced after the response has begun', async () => {
    const server = await startRawServer((request) =>
      request.turn === 2 ? request.socket.end('HTTP/1.1 20') : ok(request),
    );
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(2);
  });

  // An upstream that has responded is alive. If the request were retried, the upstream would only repeat its flood of
  // interim responses.
  it('is not replaced after an interim response', async () => {
    const storm = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100);
    const server = await startRawServer((request) =>
      request.turn === 2 ? void request.socket.write(storm) : ok(request),
    );
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(2);
  });

  // The server accepts connections, but never takes part in the TLS handshake.
  it.each([
    ['its request is given up', async (_upstream: Upstream, request: AbortController) => request.abort()],
    ['the upstream closes', (upstream: Upstream) => upstream.close(0)],
  ])('that is still being opened is closed when %s', async (_when, end) => {
    for (const request of [get, post, { ...get, mode: 'streamed' as const }]) {
      const server = await startRawServer(() => undefined);
      const upstream = upstreamAt(server.origin.replace('http:', 'https:'), { connectTimeoutMs: 600_000 });
      const controller = new AbortController();
      const ended = upstream.exchange({ ...request, signal: controller.signal }).catch(() => undefined);
      await expect.poll(() => server.sockets.size).toBe(1);
      await end(upstream, controller);
      await expect.poll(() => server.sockets.size).toBe(0);
      controller.abort();
      await ended;
    }
  });

  it('is not replaced if it was new', async () => {
    const server = await startRawServer((request) => request.socket.resetAndDestroy());
    await expect(upstreamAt(server.origin).exchange(get)).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(1);
  });

  it('is new for every unsafe request, announces that it will close, and closes', async () => {
    const server = await startRawServer(ok);
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    for (const method of ['POST', 'PUT', 'DELETE']) await upstream.exchange({ ...post, method });
    expect(server.requests.map((request) => [request.connection, request.turn])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
    expect(server.requests[1]?.head).toMatch(/^connection: close$/im);
    await expect.poll(() => upstream.stats().openConnections).toBe(1);
  });

  // If the undici clients of such connections were kept, thousands of them per hour could accumulate in memory until
  // the process ended.
  it('for an unsafe request is forgotten once it is closed or refused', async () => {
    const origins = [(await startRawServer(ok)).origin, `http://127.0.0.1:${await freePort()}`];
    const circuit = { failures: 1_000, openSeconds: 1 };
    const upstreams = origins.map((origin) => upstreamAt(origin, { circuit }));
    const send = () => Promise.allSettled(upstreams.map((upstream) => upstream.exchange(post)));
    await send();
    const before = clients();
    for (let count = 0; count < 30; count += 1) await send();
    await expect.poll(clients).toBeLessThan(before + 5);
  });

  it('that breaks during an unsafe request is never replaced', async () => {
    const server = await startRawServer((request) => request.socket.resetAndDestroy());
    await expect(upstreamAt(server.origin).exchange(post)).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(1);
  });

  it('is closed by Portico after the configured idle time', async () => {
    const server = await startRawServer(ok);
    const upstream = upstreamAt(server.origin, { idleTimeoutMs: 50 });
    await upstream.exchange(get);
    await expect.poll(() => upstream.stats().openConnections).toBe(0);
  });

  // undici compares the clock when it reuses a connection, because no timer can fire while the event loop is busy. It
  // destroys the old socket with an error, and that error must not make the new connection's response look truncated.
  it.each(['buffered', 'streamed'] as const)(
    'that was idle for too long while the event loop was busy is replaced, and a %s response stays whole',
    async (mode) => {
      const server = await startRawServer((request) =>
        request.connection === 1 ? ok(request) : request.socket.end('HTTP/1.1 200 OK\r\n\r\nunframed'),
      );
      const upstream = upstreamAt(server.origin, { idleTimeoutMs: 60_000 });
      await upstream.exchange(get);
      // The connection becomes idle one turn of the event loop after the end of the response.
      await setImmediate();
      const now = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
      const { body } = await upstream.exchange({ ...get, mode });
      expect(Buffer.isBuffer(body) ? body.toString() : await drain(body)).toEqual(
        mode === 'buffered' ? 'unframed' : { bytes: Buffer.from('unframed'), failure: undefined },
      );
      expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
      expect(upstream.stats().retries).toEqual({ succeeded: 0, failed: 0, refused: 0 });
    },
  );

  it('is not kept open longer because the upstream asks for it', async () => {
    const server = await startRawServer((request) => reply(request, 200, 'x', 'Keep-Alive: timeout=600'));
    const upstream = upstreamAt(server.origin, { idleTimeoutMs: 50 });
    await upstream.exchange(get);
    await expect.poll(() => upstream.stats().openConnections).toBe(0);
  });
});

describe('an exchange fails', () => {
  it('with `refused` if the server is not listening or its name is unknown', async () => {
    failInvalidNames();
    for (const origin of [`http://127.0.0.1:${await freePort()}`, 'http://portico.invalid']) {
      await expect(upstreamAt(origin).exchange(get)).rejects.toMatchObject({ kind: 'refused' });
    }
  });

  it('with `refused` if the certificate is not trusted', async () => {
    const server = createTlsServer(selfSigned('localhost'), (socket) => socket.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const exchange = upstreamAt(`https://127.0.0.1:${port}`).exchange(get);
    await expect(exchange).rejects.toMatchObject({ kind: 'refused', cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    server.close();
  });

  // undici checks these limits only once or twice a second. The exchanges run concurrently to save time.
  it('with `deadline` if the connection is not established in time, no response head arrives or a body stalls', async () => {
    const silent = await startRawServer(() => undefined);
    const stalling = await startRawServer((request) =>
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345'),
    );
    const exchanges = {
      connection: upstreamAt(silent.origin.replace('http:', 'https:'), { connectTimeoutMs: 50 }).exchange(get),
      head: upstreamAt(silent.origin, { headersTimeoutMs: 50 }).exchange(get),
      body: upstreamAt(stalling.origin, { bodyTimeoutMs: 50 }).exchange(get),
    };
    await Promise.all(
      Object.entries(exchanges).map(([late, exchange]) =>
        expect(exchange, `the ${late} is late`).rejects.toMatchObject({ kind: 'deadline' }),
      ),
    );
  });

  it('with `deadline` if a body that never stalls takes too long in total', async () => {
    const server = await startRawServer((request) => {
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      const drip = setInterval(() => request.socket.write('x'), 5);
      request.socket.on('close', () => clearInterval(drip));
    });
    await expect(upstreamAt(server.origin, { totalTimeoutMs: 80 }).exchange(get)).rejects.toMatchObject({
      kind: 'deadline',
    });
  });

  it('but not if a streamed body keeps arriving for longer than the total limit', async () => {
    const server = await startRawServer((request) =>
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx'),
    );
    const totalTimeoutMs = 59_999;
    const limit = watchTimers(totalTimeoutMs);
    const exchange = upstreamAt(server.origin, { totalTimeoutMs }).exchange(observed);
    // The limit applies only until the head of the response arrives. The body may take any amount of time.
    await until(() => limit.started() === 1 && limit.running() === 0);
    server.requests[0]?.socket.write('x');
    expect((await exchange).body).toEqual(Buffer.from('xx'));
  });

  it('with `reset` if the response is not HTTP', async () => {
    const server = await startRawServer((request) => request.socket.end('SSH-2.0-x\r\n'));
    await expect(upstreamAt(server.origin).exchange(get)).rejects.toMatchObject({ kind: 'reset' });
  });

  it('with `aborted` if the client disconnects, and breaks the connection', async () => {
    const left = new AbortController();
    const server = await startRawServer(() => left.abort());
    const upstream = upstreamAt(server.origin);
    await expect(upstream.exchange({ ...get, signal: left.signal })).rejects.toMatchObject({ kind: 'aborted' });
    expect(upstream.stats().inFlight).toBe(0);
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('with `aborted` if the client disconnects while connecting, and nothing is sent', async () => {
    const server = await startRawServer(ok);
    const left = new AbortController();
    const upstream = upstreamAt(server.origin);
    const exchanges = [get, post].map((request) => upstream.exchange({ ...request, signal: left.signal }));
    // Connecting takes a turn of the event loop. The preceding steps do not.
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    left.abort();
    for (const exchange of exchanges) await expect(exchange).rejects.toMatchObject({ kind: 'aborted' });
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(server.requests).toEqual([]);
  });

  it('with `aborted` if the client’s own body breaks', async () => {
    const server = await startRawServer(ok);
    const body = new Readable({ read: () => undefined });
    body.push('abc');
    const exchange = upstreamAt(server.origin).exchange({ ...post, body });
    body.destroy(new Error('the client left'));
    await expect(exchange).rejects.toMatchObject({ kind: 'aborted' });
  });
});

describe('the limit on exchanges', () => {
  it('sheds requests that find the queue full or wait too long, with a retry time', async () => {
    const server = await startRawServer(() => undefined);
    const upstream = upstreamAt(server.origin, { concurrency: 1, queue: 1, queueTimeoutMs: 50 });
    const running = upstream.exchange(get).catch(() => undefined);
    await expect.poll(() => upstream.stats().inFlight).toBe(1);
    const waiting = upstream.exchange(get);
    expect(upstream.stats()).toMatchObject({ inFlight: 1, queued: 1 });
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'shed', retryAfterSeconds: 1 });
    await expect(waiting).rejects.toMatchObject({ kind: 'shed', retryAfterSeconds: 1 });
    await upstream.close(0);
    await running;
  });

  // If clients did not take turns, one that sends many requests at the same time would make all others wait or fail.
  it('gives waiting clients their places in turn, and takes a waiting place from the client with the most', async () => {
    const pending: RawRequest[] = [];
    const server = await startRawServer((request) => void pending.push(request));
    const upstream = upstreamAt(server.origin, { concurrency: 1, queue: 3, queueTimeoutMs: 60_000 });
    const send = (caller: string, number: number) => {
      const owner = { caller, isVerified: true, address: '203.0.113.7' };
      return upstream.exchange({ ...get, target: `/${caller}${number}`, owner: () => owner });
    };
    const greedy = [0, 1, 2, 3].map((number) => send('greedy', number));
    await expect.poll(() => pending.length).toBe(1);
    await expect(send('greedy', 4)).rejects.toMatchObject({ kind: 'shed' });
    const modest = send('modest', 1);
    await expect(greedy[3]).rejects.toMatchObject({ kind: 'shed' });
    for (let served = 1; served <= 4; served += 1) {
      await expect.poll(() => pending.length).toBe(served);
      ok(pending[served - 1] as RawRequest);
    }
    await Promise.all([greedy[0], greedy[1], greedy[2], modest]);
    expect(pending.map(({ head }) => head.split(' ')[1])).toEqual(['/greedy0', '/greedy1', '/modest1', '/greedy2']);
  });

  it('treats unverified callers as one client per address', async () => {
    const server = await startRawServer(() => undefined);
    const upstream = upstreamAt(server.origin, { concurrency: 1, queue: 2, queueTimeoutMs: 60_000 });
    const send = (caller: string, isVerified: boolean, address = '203.0.113.7') =>
      upstream.exchange({ ...get, owner: () => ({ caller, isVerified, address }) });
    const rest = ['a', 'b'].map((caller) => send(caller, false).catch(() => undefined));
    await expect.poll(() => upstream.stats()).toMatchObject({ inFlight: 1, queued: 1 });
    const displaced = send('c', false);
    // An attacker can make up any number of credentials, so an unverified credential does not get its own turn in the
    // queue.
    await expect(send('d', false)).rejects.toMatchObject({ kind: 'shed' });
    const other = send('e', false, '198.51.100.1').catch(() => undefined);
    await expect(displaced).rejects.toMatchObject({ kind: 'shed' });
    await upstream.close(0);
    await Promise.all([...rest, other].map((one) => Promise.race([one, setImmediate()])));
  });

  // One signal can serve many exchanges. If listeners were not removed, each exchange would leave one on the signal.
  it("leaves no listener on the client's signal", async () => {
    const server = await startRawServer(ok);
    const upstream = upstreamAt(server.origin);
    const { signal } = new AbortController();
    for (const request of [get, observed, post]) await upstream.exchange({ ...request, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('removes a client from the queue when it disconnects', async () => {
    const server = await startRawServer(() => undefined);
    const upstream = upstreamAt(server.origin, { concurrency: 1 });
    const running = upstream.exchange(get).catch(() => undefined);
    await expect.poll(() => upstream.stats().inFlight).toBe(1);
    const left = new AbortController();
    const waiting = upstream.exchange({ ...get, signal: left.signal });
    left.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'aborted' });
    expect(upstream.stats().queued).toBe(0);
    await upstream.close(0);
    await running;
  });
});

describe("a client's streams", () => {
  const passed = {
    ...get,
    mode: 'streamed',
    owner: () => ({ caller: 'alice', isVerified: true, address: '203.0.113.7' }),
  } as const;
  const one = { concurrency: 1, streams: { total: 1, perCaller: 1, perAddress: 1 } };
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345';

  // A stream may be free when a request begins to wait, but a request ahead of it can take the last free stream.
  it('refuse a request that finds them all in use when it gets its slot, and it is not sent', async () => {
    const server = await startRawServer(() => undefined);
    const upstream = upstreamAt(server.origin, one);
    const first = upstream.exchange(passed);
    const second = upstream.exchange({ ...passed, target: '/b.json' });
    const refused = expect(second).rejects.toMatchObject({ kind: 'shed', retryAfterSeconds: 5 });
    await expect.poll(() => server.requests.length).toBe(1);
    for (const socket of server.sockets) socket.write(head);
    const { body } = await first;
    await refused;
    expect(server.requests).toHaveLength(1);
    streamOf(body).destroy();
    await expect.poll(() => upstream.stats()).toMatchObject({ inFlight: 0, streams: 0 });
  });

  it('refuse a write if others opened them all while its body arrived, and it is not sent', async () => {
    const server = await startRawServer(({ socket }) => socket.write(head));
    const upstream = upstreamAt(server.origin, one);
    const stream = new PassThrough();
    const slow = upstream.exchange({ ...passed, method: 'POST', upload: { stream, length: 3 } });
    const refused = expect(slow).rejects.toMatchObject({ kind: 'shed' });
    const { body } = await upstream.exchange(passed);
    stream.end('abc');
    await refused;
    expect(server.requests).toHaveLength(1);
    streamOf(body).destroy();
  });

  it('forward the response to a write, which cannot be undone, even if they are all in use', async () => {
    const server = await startRawServer(({ socket }) => socket.write(head));
    const upstream = upstreamAt(server.origin, { ...one, maxResponseBytes: 4 });
    const { body } = await upstream.exchange(passed);
    await expect(upstream.exchange({ ...observed, owner: passed.owner })).rejects.toMatchObject({ kind: 'shed' });
    const written = await upstream.exchange({ ...observed, method: 'PUT', owner: passed.owner });
    expect(written.status).toBe(200);
    for (const response of [body, written.body]) streamOf(response).destroy();
  });

  // A client that uses all of its streams must not fill the queue in which other clients wait.
  it('refuse another request before it waits for a slot', async () => {
    const server = await startRawServer(
      ({ head: asked, socket }) => void (asked.includes('/a.json') && socket.write(head)),
    );
    const upstream = upstreamAt(server.origin, one);
    const { body } = await upstream.exchange(passed);
    const slow = upstream.exchange({ ...get, target: '/slow.json' }).catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(2);
    await expect(upstream.exchange(passed)).rejects.toMatchObject({ kind: 'shed', retryAfterSeconds: 5 });
    expect(upstream.stats()).toMatchObject({ inFlight: 1, queued: 0 });
    streamOf(body).destroy();
    for (const socket of server.sockets) socket.destroy();
    await slow;
  });
});

describe('the circuit', () => {
  it('opens after consecutive transport failures, refuses without calling, and closes after a trial', async () => {
    const time = { now: 1_700_000_000_000 };
    let broken = true;
    const server = await startRawServer((request) => (broken ? request.socket.resetAndDestroy() : ok(request)));
    const options = { circuit: { failures: 2, openSeconds: 5 } };
    const upstream = upstreamAt(server.origin, options, { clock: () => time.now });
    for (let count = 0; count < 2; count += 1)
      await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'reset' });
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'circuit_open', retryAfterSeconds: 5 });
    expect(server.requests).toHaveLength(2);
    broken = false;
    time.now += 5000;
    expect(await upstream.exchange(get)).toMatchObject({ status: 200 });
    expect(upstream.stats().circuit).toBe('closed');
  });

  it('refuses requests that were waiting in the queue when it opened', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<RawRequest>();
    const server = await startRawServer(arrive);
    const upstream = upstreamAt(server.origin, { concurrency: 1, circuit: { failures: 1, openSeconds: 5 } });
    const outcomes = Promise.allSettled([upstream.exchange(get), upstream.exchange(get)]);
    (await arrived).socket.resetAndDestroy();
    expect(await outcomes).toMatchObject([{ reason: { kind: 'reset' } }, { reason: { kind: 'circuit_open' } }]);
    expect(server.requests).toHaveLength(1);
  });

  it('stays closed for a page that always returns an error, is too large or is abandoned by clients', async () => {
    const server = await startRawServer((request) => reply(request, 500, 'x'.repeat(2000)));
    const upstream = upstreamAt(server.origin, { circuit: { failures: 1, openSeconds: 5 }, maxResponseBytes: 1024 });
    await expect(upstream.exchange(get)).rejects.toMatchObject({ kind: 'too_large' });
    await expect(upstream.exchange({ ...get, signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
    await upstream.exchange({ ...get, method: 'HEAD' });
    expect(upstream.stats().circuit).toBe('closed');
  });

  it('counts a broken stream that has already been returned', async () => {
    const server = await startRawServer(half);
    const upstream = upstreamAt(server.origin, { circuit: { failures: 1, openSeconds: 5 } });
    const exchanged = await upstream.exchange(observed);
    await drain(exchanged.body);
    expect(upstream.stats()).toMatchObject({ inFlight: 0, circuit: 'open' });
  });
});

describe('closing', () => {
  it('lets an exchange in flight finish', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<RawRequest>();
    const server = await startRawServer(arrive);
    const upstream = upstreamAt(server.origin);
    const exchange = upstream.exchange(get);
    const request = await arrived;
    const closed = upstream.close();
    ok(request);
    expect(await exchange).toMatchObject({ status: 200 });
    await closed;
    expect(upstream.stats().openConnections).toBe(0);
  });

  it('breaks exchanges that do not finish in time', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<RawRequest>();
    const server = await startRawServer(arrive);
    const upstream = upstreamAt(server.origin);
    const exchanges = [upstream.exchange(get), upstream.exchange(post)];
    const settled = Promise.allSettled(exchanges);
    await arrived;
    await upstream.close(0);
    expect((await settled).map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
  });
});

it.each([get, observed, { ...get, mode: 'streamed' }] as const)(
  'counts the requests to its only address by outcome, for $mode responses',
  async (request) => {
    const server = await startRawServer((received) => {
      const status = /^GET \/(\d+)/.exec(received.head)?.[1];
      if (status === undefined) received.socket.destroy();
      else reply(received, Number(status), 'x');
    });
    const upstream = upstreamAt(server.origin);
    const send = async (target: string) => {
      const response = await upstream.exchange({ ...request, target });
      if (!Buffer.isBuffer(response.body)) await drain(streamOf(response.body));
    };
    for (const target of ['/200', '/404', '/503']) await send(target);
    await expect(send('/none')).rejects.toThrow();
    expect(upstream.health().addresses).toMatchObject([{ requests: { succeeded: 2, failed: 2 } }]);
  },
);
