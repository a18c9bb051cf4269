import type { ClientRequest, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { createProxy, type Proxy, sendProxied } from '../../../src/engine/upstream/send-proxied.ts';
import { createStop } from '../../../src/engine/upstream/sending.ts';
import { UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';
import { drain, endOf } from '../../builders/streamed-body.ts';
import { startRawServer } from './support/raw-server.ts';

/** Sends a request to an upstream that begins a body without a length. Also returns the sent request. */
async function begun() {
  const server = await startRawServer(({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'));
  const sent = Promise.withResolvers<ClientRequest>();
  const library = createProxy(server.origin, UPSTREAM_DEFAULTS);
  const proxy: Proxy = (request, events) =>
    library(request, {
      ...events,
      onRequest(outgoing, body) {
        sent.resolve(outgoing);
        events.onRequest(outgoing, body);
      },
    });
  const stop = createStop();
  const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('abc'), length: 3 };
  const { body } = await sendProxied(proxy, request, { stop, options: UPSTREAM_DEFAULTS });
  return { server, stop, body, outgoing: await sent.promise };
}

describe('the response to a proxied request', () => {
  // A body without a length ends when the connection closes, so a socket failure must be detected before the close.
  it.each(['ECONNRESET', 'ETIMEDOUT', 'EPIPE'])('is broken if its socket fails with %s', async (code) => {
    const { body, outgoing } = await begun();
    const received = new Promise<unknown>((resolve) => body.onPart(resolve));
    const drained = drain(body);
    await received;
    outgoing.socket?.destroy(Object.assign(new Error(code), { code }));
    expect((await drained).failure).toBeInstanceOf(UpstreamFailure);
  });

  it('is complete if its socket fails after the last byte has arrived, even if its reader is slower', async () => {
    const length = 100_000;
    const server = await startRawServer(({ socket }) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`),
    );
    const library = createProxy(server.origin, UPSTREAM_DEFAULTS);
    const received = Promise.withResolvers<IncomingMessage>();
    const sent = Promise.withResolvers<ClientRequest>();
    const proxy: Proxy = (request, events) =>
      library(request, {
        ...events,
        onRequest(outgoing, body) {
          sent.resolve(outgoing);
          events.onRequest(outgoing, body);
        },
        onResponse(incoming) {
          received.resolve(incoming);
          events.onResponse(incoming);
        },
      });
    const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('abc'), length: 3 };
    const { body } = await sendProxied(proxy, request, { stop: createStop(), options: UPSTREAM_DEFAULTS });
    const incoming = await received.promise;
    await expect.poll(() => incoming.complete).toBe(true);
    (await sent.promise).emit('error', new Error('reset'));
    const { bytes, failure } = await drain(body);
    expect([bytes.length, failure]).toEqual([length, undefined]);
  });

  it('ends with its exchange and closes its connection', async () => {
    const { server, stop, body } = await begun();
    const reason = new UpstreamFailure('aborted');
    stop.stop(reason);
    expect(await endOf(body)).toBe(reason);
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('closes its connection when its reader has left', async () => {
    const { server, body } = await begun();
    body.destroy();
    await expect.poll(() => server.sockets.size).toBe(0);
  });
});

// The attack: an upstream that sends interim responses forever would keep an upload open indefinitely.
it('a proxied request ends if its upstream sends more than 64 interim responses', async () => {
  const send = async (interim: number) => {
    const responses = `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(interim)}HTTP/1.1 204 No Content\r\n\r\n`;
    const server = await startRawServer(({ socket }) => socket.write(responses));
    const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('abc'), length: 3 };
    return sendProxied(createProxy(server.origin, UPSTREAM_DEFAULTS), request, {
      stop: createStop(),
      options: UPSTREAM_DEFAULTS,
    });
  };
  await expect(send(64)).resolves.toMatchObject({ status: 204 });
  await expect(send(65)).rejects.toMatchObject({ kind: 'reset', facts: { cause: 'http_protocol_error' } });
});

it('a proxied request fails if its upstream switches protocols', async () => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
  const server = await startRawServer(({ socket }) => socket.write(head));
  const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('abc'), length: 3 };
  const sending = sendProxied(createProxy(server.origin, UPSTREAM_DEFAULTS), request, {
    stop: createStop(),
    options: UPSTREAM_DEFAULTS,
  });
  await expect(sending).rejects.toMatchObject({ kind: 'reset', facts: { cause: 'http_protocol_error' } });
  await expect.poll(() => server.sockets.size).toBe(0);
});

it('a request is not sent if its exchange ends before it is connected, however far the library has come', async () => {
  const server = await startRawServer(({ socket }) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  const proxy = createProxy(server.origin, UPSTREAM_DEFAULTS);
  const send = (path: string, stop = createStop()) => {
    const request = { method: 'POST', path, headers: [], body: Buffer.from('abc'), length: 3 };
    return sendProxied(proxy, request, { stop, options: UPSTREAM_DEFAULTS });
  };
  for (let turns = 0; turns < 30; turns += 1) {
    const stop = createStop();
    const sent = send(`/${turns}`, stop);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    stop.stop(new UpstreamFailure('aborted'));
    await expect(sent).rejects.toMatchObject({ kind: 'aborted' });
  }
  await send('/last');
  expect(server.requests.map(({ head }) => head.split(' ', 2).join(' '))).toEqual(['POST /last']);
});

it('a request of a finished exchange is not sent', async () => {
  const server = await startRawServer(() => undefined);
  const stop = createStop();
  stop.stop(new UpstreamFailure('aborted'));
  const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('abc'), length: 3 };
  const sending = sendProxied(createProxy(server.origin, UPSTREAM_DEFAULTS), request, {
    stop,
    options: UPSTREAM_DEFAULTS,
  });
  await expect(sending).rejects.toMatchObject({ kind: 'aborted' });
  expect(server.accepted()).toBe(0);
});
