import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { finished } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createListenerServer } from '../../../src/engine/http/listen.ts';
import { until } from '../../builders/until.ts';
import { watchTimers } from '../../builders/watch-timers.ts';
import { LISTENER, serve, talk } from './serve.ts';

const get = (path = '/', ...headers: string[]) => [`GET ${path} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const BAD = 'NOT HTTP\r\n\r\n';
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

async function listening(listener: RequestListener = (request, response) => response.end(`<${request.url}>`)) {
  const codes: string[] = [];
  const seen: string[] = [];
  const { server, connections } = createListenerServer(
    (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      listener(request, response);
    },
    { ...LISTENER, maxHeaderBytes: 1024, onRefused: ({ code }) => codes.push(code) },
  );
  return { ...(await serve(server)), codes, seen, connections };
}

/** Starts a listener that sends no responses, but collects them so that the test can send them. */
async function owing() {
  const responses: ServerResponse[] = [];
  return { ...(await listening((_request, response) => responses.push(response))), responses };
}

it('a connection is forgotten when it closes', async () => {
  const { port, connections } = await listening();
  await talk(port, get('/', 'Connection: close')).heard;
  await until(() => connections.size === 0);
});

describe('a request that is refused', () => {
  it.each([
    ['malformed', BAD, 400, 'malformed_request'],
    ['with a head that is too large', get('/', `X: ${'x'.repeat(2000)}`), 431, 'headers_too_large'],
    ['with an endless request line', `GET /${'a'.repeat(2000)}`, 431, 'headers_too_large'],
    ['with an unknown transfer coding', get('/', 'Transfer-Encoding: gzip, chunked'), 501, 'unknown_transfer_coding'],
  ])('%s gets the error body, is counted, and its connection is closed', async (_what, text, status, code) => {
    const { port, codes, seen } = await listening();
    const heard = await talk(port, text).heard;
    const [head = '', body = ''] = heard.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/\r\nConnection: close/);
    expect(head).toContain(`Content-Length: ${body.length}`);
    expect(JSON.parse(body)).toMatchObject({ code, status });
    expect([codes, seen]).toEqual([[code], []]);
  });

  it('with the method HEAD gets only the head of the refusal', async () => {
    const { port } = await listening();
    const text = 'HEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\nX-Request-Id: mine\r\n\r\n';
    const heard = await talk(port, text).heard;
    expect(heard).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\n$/);
    expect(heard).toContain('X-Request-Id: mine');
  });

  it('because of its body gets the refusal', async () => {
    const { port } = await listening((request) => void request.resume());
    const text = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nNOT A CHUNK\r\n';
    expect(await talk(port, text).heard).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('because of its body breaks a response that has begun', async () => {
    const { port } = await listening((request, response) => {
      response.writeHead(200, { 'Content-Length': '500' });
      response.write('begin');
      request.resume();
    });
    const { socket, heard } = talk(port, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.once('data', () => socket.write('NOT A CHUNK\r\n'));
    expect(await heard).toMatch(/\r\n\r\nbegin$/);
  });

  it('because of its body closes the connection after a response that has been written', async () => {
    const { port } = await listening();
    const text = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { socket, heard } = talk(port, text);
    socket.once('data', () => socket.write('NOT A CHUNK\r\n'));
    expect(statuses(await heard)).toEqual([200]);
  });

  it('because the client reset the connection gets no response', async () => {
    const { port, server, codes } = await listening();
    const connected = once(server, 'connection');
    const { heard } = talk(port, 'GET / HT');
    const [connection] = (await connected) as [Socket];
    server.emit('clientError', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), connection);
    expect([await heard, codes]).toEqual(['', []]);
  });
});

/*
 * The attack: a malformed message in a pipeline makes the gateway drop the connection immediately, along with the
 * responses to the valid requests before it. If several clients share a connection to the gateway, for example behind a
 * load balancer, one of them could destroy the others' responses, even those to writes, by sending one invalid byte.
 */
describe('a malformed message after valid ones', () => {
  const head = 'GET / HTTP/1.1\r\nHost: a\r\n';
  const FAULTS = [
    ['bytes that are not HTTP', BAD, 400],
    ['a head that is too large', `${head}X: ${'x'.repeat(2000)}\r\n\r\n`, 431],
    ['two Host headers', `${head}Host: a\r\n\r\n`, 400],
    ['an unknown transfer coding', `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`, 501],
    ['a transfer coding that the parser rejects', `${head}Transfer-Encoding: gzip\r\n\r\n`, 501],
    ['another version', 'GET / HTTP/2.0\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 400],
    ['a malformed body', `${head.replace('GET', 'POST')}Transfer-Encoding: chunked\r\n\r\nNO CHUNK\r\n`, 400],
  ] as const;

  it.each(FAULTS)('(%s) gets its refusal after the pending responses', async (_what, bad, status) => {
    const { port, codes, responses } = await owing();
    const { heard } = talk(port, get('/1') + get('/2') + bad + get('/3'));
    await until(() => codes.length === 1);
    responses[1]?.end('<2>');
    responses[0]?.writeHead(200, { 'Content-Length': '3' }).write('<');
    responses[0]?.end('1>');
    const text = await heard;
    expect(statuses(text)).toEqual([200, 200, status]);
    expect(text).toMatch(/<1>[^]*<2>[^]*Connection: close/);
    expect(codes).toHaveLength(1);
  });

  it('in a separate chunk gets its refusal after a response that is being streamed', async () => {
    const { port, responses, codes } = await owing();
    const { socket, heard } = talk(port, get());
    await until(() => responses.length === 1);
    responses[0]?.write('be');
    socket.write(BAD);
    await until(() => codes.length === 1);
    // Later bytes are discarded.
    socket.write(BAD + get('/late'));
    responses[0]?.end('gun');
    expect(statuses(await heard)).toEqual([200, 400]);
    expect([responses.length, codes.length]).toEqual([1, 1]);
  });

  it('that does not arrive in time gets its refusal after the pending responses', async () => {
    const { port, server, responses, codes } = await owing();
    const connected = once(server, 'connection');
    const { heard } = talk(port, `${get()}GET / HT`);
    const [connection] = (await connected) as [Socket];
    await until(() => responses.length === 1);
    const timeout = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', timeout, connection);
    responses[0]?.end('ok');
    expect(statuses(await heard)).toEqual([200, 408]);
    expect(codes).toEqual(['request_timeout']);
  });

  // The attack: clients send malformed requests and never close their connections, until no more connections can be
  // accepted.
  it('ends its connection even if the client does not', async () => {
    const { port, connections } = await listening();
    const lastReads = watchTimers(1000);
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.write(BAD);
    client.resume();
    await once(client, 'end');
    expect(connections.size).toBe(1);
    lastReads.runNow();
    await until(() => connections.size === 0);
    client.destroy();
  });

  it('is not read after the last request on a connection', async () => {
    const { port, codes, responses } = await owing();
    const { heard } = talk(port, get('/', 'Connection: close') + BAD);
    await until(() => responses.length === 1);
    responses[0]?.end('ok');
    expect(statuses(await heard)).toEqual([200]);
    expect(codes).toEqual([]);
  });

  // The refused message can hide additional requests that some servers would read. The gateway must not execute any of
  // them.
  it('hides no request that is executed', async () => {
    const { port, seen } = await listening();
    await talk(port, `${head}Host: b\r\n\r\n${get('/hidden')}`).heard;
    expect(seen).toEqual([]);
  });
});

describe('incoming bytes', () => {
  const CHUNKED = 'POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\nX: y\r\n\r\n';
  const COUNTED = 'POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n\r\n\r\nx';
  const text = `${get('/0')}${CHUNKED}${COUNTED}\r\n${get('/3')}${get('/4', 'Connection: close')}`;

  // The boundaries between messages must not depend on how the network splits the bytes.
  it.each([1, 2, 3, 5, 7, 16, 64, 1000])('have the same meaning in pieces of %i bytes', async (size) => {
    const { port, server, seen, codes } = await listening((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      finished(request, () => response.end(`<${request.url} ${Buffer.concat(parts).length}>`));
    });
    const connected = once(server, 'connection');
    const { heard } = talk(port, '');
    const [connection] = (await connected) as [Socket];
    for (let at = 0; at < text.length; at += size) connection.emit('data', Buffer.from(text.slice(at, at + size)));
    expect((await heard).match(/<[^>]*>/g)).toEqual(['</0 0>', '</1 4>', '</2 5>', '</3 0>', '</4 0>']);
    expect([seen.length, codes]).toEqual([5, []]);
  });

  // Node reads all connections into the same buffer.
  it('on one connection are not overwritten by those on another', async () => {
    const { port } = await listening((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => response.end(`<${Buffer.concat(parts).toString()}>`));
    });
    const size = 200_000;
    const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`;
    const clients = ['a', 'b', 'c'].map((letter) => ({ letter, client: talk(port, head.slice(0, 9)) }));
    for (const { client } of clients) client.socket.write(head.slice(9));
    for (let sent = 0; sent < size; sent += 20_000)
      for (const { letter, client } of clients) client.socket.write(letter.repeat(20_000));
    for (const { letter, client } of clients) expect(await client.heard).toContain(`<${letter.repeat(size)}>`);
  });

  it('are held back while the client does not read its responses, and none is lost', async () => {
    const big = 'x'.repeat(300_000);
    const { port, seen } = await listening((_request, response) => response.end(big));
    const { socket, heard } = talk(port, get().repeat(39) + get('/', 'Connection: close'));
    socket.pause();
    await until(() => seen.length > 0);
    expect(seen.length).toBeLessThan(40);
    socket.resume();
    expect(statuses(await heard)).toHaveLength(40);
  });

  it('are not executed if they were held back and then refused because of their bodies', async () => {
    const big = 'x'.repeat(300_000);
    const { port, seen, codes } = await listening((_request, response) => response.end(big));
    const bad = 'POST /held HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nNO CHUNK\r\n';
    const { socket, heard } = talk(port, get().repeat(39) + bad);
    socket.pause();
    await until(() => codes.length > 0);
    socket.resume();
    expect(statuses(await heard)).toEqual([...Array.from({ length: 39 }, () => 200), 400]);
    expect(seen).not.toContain('POST /held');
  });
});
