import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { reply, startRawServer } from './support/raw-server.ts';
import { upstreamAt } from './support/settings.ts';

const get = { method: 'GET', target: '/a.json?q=b%20c', headers: [], mode: 'buffered' } as const;

describe('an exchange', () => {
  it('puts the base path in front of the raw target and reads the answer whole', async () => {
    const server = await startRawServer((request) => reply(request, 200, '{"a":1}', 'Content-Type: application/json'));
    const answer = await upstreamAt(server.origin, {}, { basePath: '/qa' }).exchange(get);
    expect(server.requests[0]?.head).toMatch(/^GET \/qa\/a\.json\?q=b%20c HTTP\/1\.1\r\n/);
    expect(answer).toMatchObject({ status: 200, attempts: 1 });
    expect(String(answer.body)).toBe('{"a":1}');
  });

  it('takes the content coding off and counts the length again', async () => {
    const server = await startRawServer((request) => reply(request, 200, gzipSync('hello'), 'Content-Encoding: gzip'));
    const answer = await upstreamAt(server.origin).exchange(get);
    expect(String(answer.body)).toBe('hello');
    expect(answer.headers).toEqual([['Content-Length', '5']]);
  });

  it('retries a safe request once when a kept connection died before any byte of the answer', async () => {
    const server = await startRawServer((request) => {
      if (request.turn === 2) request.socket.resetAndDestroy();
      else reply(request, 200, 'x');
    });
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    await setImmediate();
    expect(await upstream.exchange(get)).toMatchObject({ status: 200, attempts: 2 });
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 2]);
  });

  it('sends every unsafe request on a connection of its own', async () => {
    const server = await startRawServer((request) => reply(request, 200, 'x'));
    const upstream = upstreamAt(server.origin);
    await upstream.exchange(get);
    for (const method of ['POST', 'PUT']) await upstream.exchange({ ...get, method, body: Buffer.from('{}') });
    expect(server.requests.map((request) => [request.connection, request.turn])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  it('never retries an unsafe request', async () => {
    const server = await startRawServer((request) => request.socket.resetAndDestroy());
    const exchange = upstreamAt(server.origin).exchange({ ...get, method: 'POST', body: Buffer.from('{}') });
    await expect(exchange).rejects.toMatchObject({ kind: 'reset' });
    expect(server.requests).toHaveLength(1);
  });
});
