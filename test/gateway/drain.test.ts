import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The problem occurs in every deployment: the process receives SIGTERM while clients are using persistent connections.
 * A server that immediately closes idle connections resets those on which the next request is already on its way. If
 * that request is a write, it is lost without a trace. Portico therefore announces the close in a final response on
 * each connection.
 */

let fake: FakeUpstream;
let gateway: TestGateway;
beforeEach(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, config: { listen: { drainSeconds: 20 } } });
});

const request = (target: string, ...headers: string[]) =>
  [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: ${basic('admin')}`, ...headers, '', ''].join('\r\n');
const WRITE = [
  'PUT /services/v2/node/118/cancelwiki.json HTTP/1.1',
  'Host: x',
  `Authorization: ${basic('admin')}`,
  'Content-Length: 0',
  '',
  '',
].join('\r\n');
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));

/**
 * Sends requests on a connection, one at a time, until a response announces that the connection will close. Counts the
 * requests that receive a response and those that do not.
 */
async function busyClient(socket: Socket, message: string, ask: () => void): Promise<{ done: number; lost: number }> {
  let text = '';
  let done = 0;
  let lost = 0;
  let last = false;
  const next = () => {
    text = '';
    lost += 1;
    ask();
    socket.write(message);
  };
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    const [head, body] = text.split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0);
    if (body === undefined || Buffer.byteLength(body, 'latin1') < length) return;
    done += 1;
    lost -= 1;
    last = /^connection: close\r?$/im.test(head ?? '');
    if (!last) next();
  });
  next();
  await new Promise((resolve) => socket.once('close', resolve));
  return { done, lost };
}

describe('a gateway that is stopping', () => {
  it.each([
    ['reads', () => gateway.url, request('/services/v2/question.json')],
    ['requests for undocumented paths', () => gateway.url, request('/services/v2/node/1/unknown.json')],
    ['writes', () => gateway.url, WRITE],
    ['scrapes of the admin side', () => gateway.adminUrl, request('/livez')],
  ])('loses none of the %s of 50 busy clients', async (_what, url, message) => {
    let asked = 0;
    const sockets = Array.from({ length: 50 }, () => connect(Number(new URL(url()).port), '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const clients = sockets.map((socket) =>
      busyClient(
        socket.on('error', () => undefined),
        message,
        () => asked++,
      ),
    );
    await until(() => asked > 400);
    await gateway.close();
    const ends = await Promise.all(clients);
    expect(ends.filter(({ lost }) => lost > 0)).toEqual([]);
    expect(ends.every(({ done }) => done > 0)).toBe(true);
  });

  // The operating system establishes connections before the process accepts them. Closing the listener would reset
  // connections that are still waiting.
  it('serves clients that are connected but not accepted yet', async () => {
    const sockets = Array.from({ length: 50 }, () => connect(Number(new URL(gateway.url).port), '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const message = request('/services/v2/question.json');
    const clients = sockets.map((socket) =>
      busyClient(
        socket.on('error', () => undefined),
        message,
        () => undefined,
      ),
    );
    await gateway.close();
    expect((await Promise.all(clients)).filter(({ done, lost }) => done !== 1 || lost > 0)).toEqual([]);
  });

  it('is not ready, but listens and keeps connections until the lame-duck period is over', async () => {
    const periods: number[] = [];
    const lameDuck = Promise.withResolvers<undefined>();
    const waitLameDuck = (milliseconds: number) => {
      periods.push(milliseconds);
      return lameDuck.promise;
    };
    gateway = await startTestGateway({ upstream: fake, config: { listen: { drainSeconds: 20 } }, waitLameDuck });
    const client = await connectRaw(Number(new URL(gateway.url).port));
    const closed = gateway.gateway.close({ lameDuckSeconds: 4 });
    expect((await gateway.admin('/readyz')).status).toBe(503);
    client.send(request('/services/v2/question.json'));
    expect(await client.until(/\r\n\r\n\{/)).not.toMatch(/connection: close/i);
    expect((await gateway.call('/services/v2/question.json')).status).toBe(200);
    expect(periods).toEqual([4000]);
    lameDuck.resolve(undefined);
    expect(await client.closed).toBe(false);
    await closed;
  });

  it('waits for the whole lame-duck period', async () => {
    const startedAt = performance.now();
    await gateway.gateway.close({ lameDuckSeconds: 0.3 });
    // A timer can fire a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(290);
  });

  it('closes a connection with the last of its pipelined responses', async () => {
    const gate = Promise.withResolvers<undefined>();
    fake.handler = async (asked) => {
      await gate.promise;
      return exampleResponse(asked);
    };
    const client = await connectRaw(Number(new URL(gateway.url).port));
    client.send(WRITE + WRITE);
    await fake.received(2);
    const closed = gateway.close();
    gate.resolve(undefined);
    expect(await client.closed).toBe(false);
    await closed;
    const text = client.received();
    expect(statuses(text)).toEqual([200, 200]);
    expect(text.match(/^connection: close\r$/gim)).toHaveLength(1);
    expect(text.lastIndexOf('HTTP/1.1')).toBeLessThan(text.search(/^connection: close\r$/im));
  });
});
