import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientGone } from '../../src/http/client-gone.ts';
import { callAt } from '../builders/call.ts';
import { until } from '../builders/until.ts';
import { serve, talk } from './serve.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Serves one request; gives its response before anything is answered. */
async function asked(): Promise<{ port: number; url: string; response: Promise<ServerResponse> }> {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const { port, url } = await serve((_request, response) => resolve(response));
  return { port, url, response: promise };
}

describe('the signal of a client', () => {
  it('ends when the client leaves before the answer is written', async () => {
    const { port, response } = await asked();
    const { socket } = talk(port, REQUEST);
    const signal = clientGone(await response);
    expect(signal.aborted).toBe(false);
    socket.destroy();
    await until(() => signal.aborted);
  });

  it('has ended at once when the client had left before anybody asked for it', async () => {
    const { port, response } = await asked();
    const { socket } = talk(port, REQUEST);
    const held = await response;
    const closed = once(held, 'close');
    socket.destroy();
    await closed;
    expect(clientGone(held).aborted).toBe(true);
  });

  it('does not end with an answer that was written', async () => {
    const { url, response } = await asked();
    const answer = callAt(url, '/');
    const held = await response;
    const closed = once(held, 'close');
    const before = clientGone(held);
    held.end('whole');
    expect((await answer).text).toBe('whole');
    await closed;
    expect([before.aborted, clientGone(held).aborted]).toEqual([false, false]);
  });
});
