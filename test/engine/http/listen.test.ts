import { once } from 'node:events';
import { Agent, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createListenerServer, listen, type Listener, type ListenerOptions } from '../../../src/engine/http/listen.ts';
import { callAt } from '../../builders/call.ts';
import { until } from '../../builders/until.ts';
import { LISTENER, talk } from './serve.ts';

const open: Listener[] = [];
const agent = new Agent({ keepAlive: true });
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close({ finishMs: 0 })));
});

async function listening(options: Partial<ListenerOptions> = {}) {
  const responses: ServerResponse[] = [];
  const all = { ...LISTENER, ...options };
  const created = createListenerServer((_request, response) => responses.push(response), all);
  const listener = await listen(created, all);
  open.push(listener);
  return { listener, responses, server: created.server, port: Number(new URL(listener.url).port) };
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** Sends a request over a persistent connection. */
function kept(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', agent }, (reply) => {
      let text = '';
      reply.on('data', (part: Buffer) => (text += part.toString()));
      reply.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('a listener', () => {
  it('keeps idle connections open longer than a load balancer does, and limits the duration and size of requests', async () => {
    const { server } = await listening();
    expect([server.keepAliveTimeout, server.requestTimeout, server.headersTimeout]).toEqual([75_000, 60_000, 20_000]);
  });

  it('accepts no head larger than the limit', async () => {
    const { listener } = await listening();
    expect((await callAt(listener.url, '/', { headers: { X: 'x'.repeat(3000) } })).status).toBe(431);
  });

  it.each([
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['::1', /^http:\/\/\[::1\]:\d+$/],
  ])('on %s names a usable address', async (host, url) => {
    expect((await listening({ host })).listener.url).toMatch(url);
  });

  it('rejects with the system error if its port is taken', async () => {
    const { port } = await listening();
    await expect(listening({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('lets the app respond to an unknown expectation', async () => {
    const { listener, responses } = await listening();
    const reply = callAt(listener.url, '/', { headers: { Expect: 'the unexpected' } });
    await until(() => responses.length === 1);
    responses[0]?.end('seen');
    expect((await reply).text).toBe('seen');
  });

  it('refuses a request without a Host header', async () => {
    const { port } = await listening();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\n\r\n');
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});

describe('a listener that closes', () => {
  it('accepts no new connection and lets requests in flight finish', async () => {
    const { listener, responses, port, server } = await listening();
    const reply = callAt(listener.url, '/');
    await until(() => responses.length === 1);
    const closed = listener.close({ finishMs: 60_000, idleMs: 0 });
    await until(() => !server.listening);
    await expect(kept(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    responses[0]?.end('done');
    expect((await reply).text).toBe('done');
    await closed;
  });

  it('does not wait for idle connections', async () => {
    const { listener, responses, port } = await listening();
    const reply = kept(port);
    await until(() => responses.length === 1);
    responses[0]?.end('done');
    await reply;
    await listener.close({ finishMs: 60_000, idleMs: 0 });
  });

  // The next request may be on its way while the connection still looks idle. Closing the connection immediately
  // would reset it.
  it('serves a request that arrives on an idle connection, and closes the connection with its response', async () => {
    const { listener, responses, port, server } = await listening();
    const { socket, heard } = talk(port, '');
    await once(server, 'connection');
    const closed = listener.close({ finishMs: 60_000, idleMs: 60_000 });
    await until(() => !server.listening);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => responses.length === 1);
    responses[0]?.end('late');
    expect(await heard).toMatch(/\r\nConnection: close\r\n[^]*late$/);
    await closed;
  });

  it('does not wait for a connection whose response promised to keep it open', async () => {
    const { listener, responses, port } = await listening();
    const reply = kept(port);
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200).write('be');
    const closed = listener.close({ finishMs: 60_000, idleMs: 0 });
    responses[0]?.end('gun');
    expect(await reply).toBe('begun');
    await closed;
  });

  it('leaves no timer running', async () => {
    const { listener } = await listening();
    const before = timers();
    await listener.close({ finishMs: 60_000, idleMs: 0 });
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('breaks the remaining connections after the grace period', async () => {
    const { listener, responses } = await listening();
    const reply = callAt(listener.url, '/');
    await until(() => responses.length === 1);
    const broken = expect(reply).rejects.toMatchObject({ code: 'ECONNRESET' });
    await listener.close({ finishMs: 1 });
    await broken;
  });

  // For an HTTP/1.0 client, a body without a length ends with the connection, so the part that it received would look
  // complete.
  it('resets an HTTP/1.0 connection whose response is incomplete', async () => {
    const { listener, responses, port } = await listening();
    const socket = connect(port, '127.0.0.1');
    const ending = new Promise((resolve) => {
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
      socket.on('end', () => resolve('end'));
    });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200).write('half');
    await once(socket, 'data');
    await listener.close({ finishMs: 1 });
    expect(await ending).toBe('ECONNRESET');
  });
});
