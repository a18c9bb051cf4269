import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answerClientErrors } from '../../src/http/client-errors.ts';
import { serve, talk } from './serve.ts';

const GOOD = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const BAD = 'NOT HTTP\r\n\r\n';

async function listening(listener: RequestListener = (_request, response) => response.end('ok')) {
  const server = createServer({ maxHeaderSize: 1024 }, listener);
  const codes: string[] = [];
  answerClientErrors(server, ({ code }) => codes.push(code));
  return { ...(await serve(server)), codes };
}

describe('a request that the parser refuses', () => {
  it.each([
    ['malformed', BAD, 400, 'malformed_request'],
    [
      'with a head that is too large',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(2000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ])('%s is answered in the one form, counted, and its connection closed', async (_what, text, status, code) => {
    const { port, codes } = await listening();
    const heard = await talk(port, text).heard;
    const [head = '', body = ''] = heard.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/\r\nConnection: close/);
    expect(head).toContain(`Content-Length: ${body.length}`);
    expect(JSON.parse(body)).toMatchObject({ code, status });
    expect(codes).toEqual([code]);
  });

  it('after one that was answered is answered too', async () => {
    const { port, codes } = await listening();
    const { socket, heard } = talk(port, GOOD);
    socket.once('data', () => socket.write(BAD));
    expect((await heard).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(codes).toHaveLength(1);
  });

  // What is written now would be taken for the answer, or for the rest of the answer, to the earlier request.
  it('after one that still waits for its answer breaks the connection without a word', async () => {
    const { port, codes } = await listening(() => undefined);
    expect(await talk(port, GOOD + BAD).heard).toBe('');
    expect(codes).toEqual([]);
  });

  it('in the middle of an answer breaks it off without a word', async () => {
    const { port } = await listening((_request, response) => {
      response.writeHead(200, { 'Content-Length': '500' });
      response.write('begin');
    });
    const { socket, heard } = talk(port, GOOD);
    socket.once('data', () => socket.write(BAD));
    expect(await heard).toMatch(/\r\n\r\nbegin$/);
  });

  it('by its own body is answered', async () => {
    const { port } = await listening((request) => void request.resume());
    const text = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nNOT A CHUNK\r\n';
    expect(await talk(port, text).heard).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('by its own body breaks an answer that has begun', async () => {
    const { port } = await listening((request, response) => {
      response.writeHead(200, { 'Content-Length': '500' });
      response.write('begin');
      request.resume();
    });
    const { socket, heard } = talk(port, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.once('data', () => socket.write('NOT A CHUNK\r\n'));
    expect(await heard).toMatch(/\r\n\r\nbegin$/);
  });
});

/** What a client hears whose connection ends in this error. */
async function heardAfter(code: string) {
  const { port, server, codes } = await listening();
  const connected = once(server, 'connection');
  const { heard } = talk(port, 'GET / HT');
  const [connection] = (await connected) as [Socket];
  server.emit('clientError', Object.assign(new Error(code), { code }), connection);
  return { heard: await heard, codes };
}

describe('an error of the connection', () => {
  it('is answered with 408 when the request was not complete in time', async () => {
    const { heard, codes } = await heardAfter('ERR_HTTP_REQUEST_TIMEOUT');
    expect(heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(codes).toEqual(['request_timeout']);
  });

  it('is not answered when the client has reset it', async () => {
    expect(await heardAfter('ECONNRESET')).toEqual({ heard: '', codes: [] });
  });
});
