import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Server, Socket } from 'node:net';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { checkNode } from '../../../src/engine/node-internals/check-node.ts';
import { readAfterWriteError } from '../../../src/engine/node-internals/failed-writes.ts';
import { interceptReceived } from '../../../src/engine/node-internals/received-bytes.ts';

/*
 * Each inner part of Node on which Portico relies, as this version of Node has it. `.github/workflows/ci.yml` runs these
 * tests with the oldest supported version, too.
 */

/** Starts a server and returns a socket that is connected to it. */
async function connected(server: Server): Promise<Socket> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

it('a supported version of Node has all inner parts', () => {
  expect(() => checkNode()).not.toThrow();
});

it.each([
  ['push', 'push'],
  ['_write', '_write'],
  ['_writev', '_writev'],
])('a version of Node without %s is refused at the start', (name) => {
  const socket = Object.assign(new Socket(), { [name]: undefined });
  expect(() => checkNode(socket)).toThrow(
    `node: version ${process.version} is not supported, because its sockets lack`,
  );
});

it('a socket passes everything that it receives to its own push', async () => {
  const server = createSocketServer((socket) => socket.end('some bytes'));
  const client = await connected(server);
  const received: string[] = [];
  const push = interceptReceived(client, (part) => {
    received.push(String(part));
    return push(part && Buffer.from('other'));
  });
  let read = '';
  client.on('data', (part) => (read += String(part)));
  await once(client, 'end');
  expect(received).toEqual(['some bytes', 'null']);
  expect(read).toBe('other');
});

it('a socket writes through its own _write and _writev, so it can be read after a failed write', async () => {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    // The server does not read the request, so closing resets the connection.
    socket.write('response');
  });
  const client = await connected(server);
  await once(client, 'connect');
  const failed = Promise.withResolvers<void>();
  const failing = () => new Error('the write failed');
  client._write = (_chunk, _encoding, done) => done(failing());
  client._writev = (_chunks, done) => done(failing());
  readAfterWriteError(client, failed.resolve);
  client.write('one');
  client.write('two');
  await failed.promise;
  const [response] = (await once(client, 'data')) as [Buffer];
  expect(String(response)).toBe('response');
});

it('a response says how it ends: shouldKeepAlive and chunkedEncoding', async () => {
  const seen = Promise.withResolvers<boolean>();
  const server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
    response.write('part');
    seen.resolve(response.chunkedEncoding);
    response.end();
  });
  const client = await connected(server);
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [head] = (await once(client, 'data')) as [Buffer];
  expect(String(head)).toMatch(/\r\nConnection: close\r\n/i);
  expect(await seen.promise).toBe(true);
});
