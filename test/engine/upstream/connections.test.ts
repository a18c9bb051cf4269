import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { guardReceived } from '../../../src/engine/upstream/connections.ts';

/*
 * The attack: an upstream, or a proxy in front of it, sends unsolicited interim responses. When undici receives a `100
 * Continue`, it closes the connection, so the response to an upload is lost even when the upload was carried out. A
 * flood of interim responses would keep the gateway busy forever.
 */

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\nHTTP/1.1 100 Not a head';

const MAX_HEAD = 65_536;
/** What may arrive besides the head and the body. */
const OVERHEAD = 196_608;

/** Creates a stream that stands in for a socket and records the bytes that its reader receives. */
function received() {
  let bodyBytes = 0;
  let bytes = 0;
  const socket = new Duplex({ read: () => undefined, write: (_part, _encoding, done) => done() });
  let error: Error | undefined;
  socket.on('error', (thrown) => (error = thrown));
  const awaitHead = guardReceived(socket as unknown as Socket, {
    maxHeadBytes: MAX_HEAD,
    bodyBytes: () => bodyBytes,
    onReceived: (more) => (bytes += more),
  });
  return {
    awaitHead,
    receive: (...parts: string[]) => parts.map((part) => socket.push(Buffer.from(part, 'latin1'))),
    end: () => socket.push(null),
    read() {
      let text = '';
      for (let part = socket.read() as Buffer | null; part !== null; part = socket.read() as Buffer | null)
        text += part.toString('latin1');
      return text;
    },
    socket,
    /** Counts more bytes of the body as read. */
    readBody: (more: number) => (bodyBytes += more),
    bytes: () => bytes,
    error: () => error?.message,
  };
}

describe('a connection to the upstream', () => {
  it.each([
    ['none', FINAL],
    ['one', CONTINUE + FINAL],
    ['several', CONTINUE + HINTS + HINTS + FINAL],
    ['one of HTTP/1.0', `HTTP/1.0 100 Go on\r\n\r\n${FINAL}`],
    ['one without a reason phrase', `HTTP/1.1 199\r\nA: b\r\n\r\n${FINAL}`],
  ])('passes the final response unchanged after interim ones, however it is split: %s', (_name, bytes) => {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { receive, read } = received();
      receive(bytes.slice(0, cut), bytes.slice(cut));
      expect(read()).toBe(FINAL);
    }
    const { receive, read } = received();
    receive(...bytes.split(''));
    expect(read()).toBe(FINAL);
  });

  it('does not inspect the body, nor bytes between two requests', () => {
    const { receive, read } = received();
    receive(FINAL, CONTINUE, CONTINUE);
    expect(read()).toBe(FINAL + CONTINUE + CONTINUE);
  });

  it('inspects again when the next request begins', () => {
    const { receive, read, awaitHead } = received();
    receive(FINAL);
    awaitHead();
    receive(CONTINUE, FINAL);
    expect(read()).toBe(FINAL + FINAL);
  });

  it.each([
    '',
    'H',
    'HTTP/1.1 1',
    'HTTP/1.1 100 Continue\r\n',
    'GARBAGE',
    'HTTP/2.0 100 X\r\n\r\n',
    'HTTP/1.1 099 X\r\n\r\n',
  ])('passes an incomplete interim response when the upstream ends: %j', (bytes) => {
    const { receive, read, end } = received();
    receive(bytes);
    end();
    expect(read()).toBe(bytes);
  });

  it('is destroyed by a protocol switch', () => {
    const { receive, read, error } = received();
    receive(`HTTP/1.1 101 Switching Protocols\r\n\r\n${FINAL}`);
    expect(read()).toBe('');
    return expect.poll(error).toBe('unrequested switch of protocols');
  });

  it('accepts 64 interim responses for each request, and is destroyed by one more', async () => {
    const { receive, read, error, awaitHead, socket } = received();
    receive(...Array.from({ length: 64 }, () => CONTINUE), FINAL);
    awaitHead();
    receive(...Array.from({ length: 64 }, () => CONTINUE), FINAL);
    expect(read()).toBe(FINAL + FINAL);
    awaitHead();
    receive(CONTINUE.repeat(65) + FINAL);
    expect(socket.destroyed).toBe(true);
    await expect.poll(error).toBe('too many interim responses');
  });

  it('accepts exactly 16 KiB of interim responses for each request', () => {
    const { receive, read, awaitHead } = received();
    const [begin, end] = ['HTTP/1.1 103 X\r\nLink: ', '\r\n\r\n'];
    const largest = begin + 'a'.repeat(16_384 - begin.length - end.length) + end;
    receive(largest, FINAL);
    awaitHead();
    receive(largest, FINAL);
    expect(read()).toBe(FINAL + FINAL);
  });

  it.each([
    ['together', Array.from({ length: 5 }, () => `HTTP/1.1 103 X\r\nLink: ${'a'.repeat(4000)}\r\n\r\n`)],
    [
      'in one that never ends',
      ['HTTP/1.1 103 X\r\n', ...Array.from({ length: 20 }, () => `Link: ${'a'.repeat(1000)}\r\n`)],
    ],
  ])('is destroyed by more than 16 KiB of interim responses, %s', async (_name, parts) => {
    const { receive, error } = received();
    receive(...parts);
    await expect.poll(error).toBe('interim responses are too large');
  });

  it('accepts a head of exactly the largest size, however it is split, and is destroyed by a larger one', async () => {
    const [begin, end] = ['HTTP/1.1 200 OK\r\nA: ', '\r\n\r\n'];
    const headOf = (size: number) => begin + 'a'.repeat(size - begin.length - end.length) + end;
    for (const cut of [1, 40_000, MAX_HEAD - 3, MAX_HEAD - 1, MAX_HEAD]) {
      const { receive, read, socket } = received();
      const response = `${headOf(MAX_HEAD)}body`;
      receive(response.slice(0, cut), response.slice(cut));
      expect(read()).toBe(response);
      expect(socket.destroyed).toBe(false);
    }
    for (const parts of [[headOf(MAX_HEAD + 1)], [begin, 'a'.repeat(MAX_HEAD)]]) {
      const { receive, error } = received();
      receive(...parts);
      await expect.poll(error).toBe('Headers Overflow Error');
    }
  });

  it('is destroyed by an endless flood of bytes that are not content, also after a large body', async () => {
    const { receive, readBody, error, socket } = received();
    receive('HTTP/1.1 200 OK\r\n\r\n');
    for (let part = 0; part < 100; part += 1) {
      receive('a'.repeat(65_536));
      // As small as chunks can be.
      readBody(65_536 / 6 + 1);
    }
    receive('a'.repeat(OVERHEAD));
    expect(socket.destroyed).toBe(false);
    receive('a');
    expect(socket.destroyed).toBe(true);
    await expect.poll(error).toBe('the response has too many bytes that are not content');
  });

  it('begins to count again with the next request', () => {
    const { receive, awaitHead, socket, bytes } = received();
    for (let request = 0; request < 3; request += 1) {
      if (request > 0) awaitHead();
      receive(`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(MAX_HEAD - 50)}\r\n\r\n`, 'a'.repeat(OVERHEAD));
    }
    expect(socket.destroyed).toBe(false);
    expect(bytes()).toBeGreaterThan(3 * OVERHEAD);
  });
});
