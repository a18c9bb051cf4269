import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { TlsOptions } from '../../../src/engine/config/general-options.ts';
import { createListenerServer, listen, type Listener } from '../../../src/engine/http/listen.ts';
import { createCertificate } from '../../builders/certificates.ts';
import { connectTls, tlsFiles } from '../../builders/tls.ts';
import { until } from '../../builders/until.ts';
import { LISTENER } from './serve.ts';

const open: Listener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close({ finishMs: 0, idleMs: 0 })));
});

const echo: RequestListener = (request, response) => {
  const parts: Buffer[] = [];
  const reply = () => response.end(`<${request.url} ${Buffer.concat(parts).toString()}>`);
  request.on('data', (part: Buffer) => parts.push(part));
  // The stream for a request without a body has already ended.
  if (request.readableEnded) reply();
  else request.on('end', reply);
};

/** Starts a listener, with or without TLS. */
async function listening(secure: boolean, app: RequestListener = echo, given: Partial<TlsOptions> = {}) {
  const files = tlsFiles(given);
  const codes: string[] = [];
  const seen: string[] = [];
  const failed: string[] = [];
  const options = {
    ...LISTENER,
    onRefused: ({ code }: { readonly code: string }) => void codes.push(code),
    ...(secure && {
      secure: {
        options: { ...files.options, ...given },
        identity: files.identity,
        onHandshakeFailed: () => void failed.push('handshake'),
      },
    }),
  };
  const created = createListenerServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    app(request, response);
  }, options);
  const listener = await listen(created, options);
  open.push(listener);
  const { port } = created.server.address() as AddressInfo;
  const ca = files.authority.cert;
  const dial = (more: ConnectionOptions = {}): Promise<Socket> =>
    secure ? connectTls(port, { ca, servername: 'localhost', ...more }) : dialPlain(port);
  return { listener, created, port, codes, seen, failed, ca, dial, files };
}

async function dialPlain(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const VARYING = /^(?:Date|X-Request-Id): .*\r\n|"requestId":"[^"]*",?/gm;

/** Returns everything that arrives until the connection closes. */
function heard(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(parts).toString().replaceAll(VARYING, '')));
  });
}

const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n');
const get = (path: string, ...headers: string[]) => head(`GET ${path} HTTP/1.1`, ...headers);
const post = (path: string, body: string, ...headers: string[]) => head(`POST ${path} HTTP/1.1`, ...headers) + body;
const LAST = get('/last', 'Connection: close');

/** Messages that another server could read differently, and some ordinary ones. */
const MESSAGES: readonly (readonly [name: string, bytes: string])[] = [
  ['one request', LAST],
  ['pipelined requests', get('/1') + post('/2', 'abc', 'Content-Length: 3') + LAST],
  ['a chunked body', post('/1', '3\r\nabc\r\n0\r\n\r\n', 'Transfer-Encoding: chunked') + LAST],
  ['a chunked body with trailers', post('/1', '1\r\na\r\n0\r\nX: y\r\n\r\n', 'Transfer-Encoding: chunked') + LAST],
  ['a blank line before the request', `\r\n${LAST}`],
  ['bytes that are not HTTP', 'NOT HTTP\r\n\r\n'],
  ['bytes that are not HTTP after a request', `${get('/1')}NOT HTTP\r\n\r\n${LAST}`],
  ['two lengths', post('/', 'abc', 'Content-Length: 3', 'Content-Length: 3') + LAST],
  ['a length and chunks', post('/', '0\r\n\r\n', 'Content-Length: 3', 'Transfer-Encoding: chunked') + LAST],
  ['a length with a sign', post('/', 'abc', 'Content-Length: +3') + LAST],
  ['an unknown coding', post('/', '0\r\n\r\n', 'Transfer-Encoding: gzip, chunked') + LAST],
  ['a coding in HTTP/1.0', `${head('POST / HTTP/1.0', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['two Host headers', get('/', 'Host: b')],
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n'],
  ['two credentials', get('/', 'Authorization: Basic YTph', 'Authorization: Basic YjpiCg==')],
  ['a bare LF', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
  ['a folded header', get('/', 'X: a\r\n b')],
  ['a space before the colon', get('/', 'X : a')],
  ['NUL in a header', get('/', 'X: a\0b')],
  ['CONNECT', head('CONNECT a:1 HTTP/1.1')],
  ['another version', head('GET / HTTP/2.0')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a head that is too large', get('/', `X: ${'x'.repeat(3000)}`)],
  ['a malformed chunk', post('/', 'x\r\n', 'Transfer-Encoding: chunked')],
  ['another expectation', get('/', 'Expect: the-unexpected', 'Connection: close')],
  ['an upgrade', get('/', 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings, close')],
];

describe('a listener with TLS', () => {
  it.each(MESSAGES)('reads %s as a listener without TLS does, and sees no other request', async (_name, bytes) => {
    const [plain, secure] = await Promise.all([listening(false), listening(true)]);
    const texts: string[] = [];
    for (const listener of [plain, secure]) {
      const socket = await listener.dial();
      const text = heard(socket);
      socket.write(bytes, 'latin1');
      texts.push(await text);
    }
    expect(texts[0]).toMatch(/^HTTP\/1\.1 /);
    expect(texts[1]).toBe(texts[0]);
    expect([secure.seen, secure.codes]).toEqual([plain.seen, plain.codes]);
  });

  it('reads a message whose bytes arrive one at a time', async () => {
    const { dial, seen } = await listening(true);
    const socket = await dial();
    const text = heard(socket);
    for (const byte of post('/1', '3\r\nabc\r\n0\r\n\r\n', 'Transfer-Encoding: chunked') + LAST) socket.write(byte);
    expect(await text).toMatch(/<\/1 abc>[^]*<\/last >/);
    expect(seen).toEqual(['POST /1', 'GET /last']);
  });

  /*
   * Node's TLS socket emits every record that it has received, even after it has been paused. If the rest of each
   * record were put back separately, later bytes would overtake earlier ones, and part of a body could become a
   * request.
   */
  it('keeps the order of the bytes while the client does not read', async () => {
    const big = 'x'.repeat(300_000);
    const { dial, seen } = await listening(true, (request, response) => {
      request.resume();
      response.end(`<${request.url}>${big}`);
    });
    const socket = await dial();
    socket.pause();
    const count = 100;
    const body = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(30);
    for (let at = 0; at < count; at += 1) socket.write(post(`/${at}`, body, `Content-Length: ${body.length}`));
    socket.write(LAST);
    await until(() => seen.length > 0);
    const text = heard(socket);
    socket.resume();
    const paths = [...(await text).matchAll(/<(\/\w+)>/g)].map(([, path]) => path);
    expect(paths).toEqual([...Array.from({ length: count }, (_, at) => `/${at}`), '/last']);
  });

  it.each([
    ['TLSv1.2', {}, 'TLSv1.2'],
    ['TLSv1.3', {}, 'TLSv1.3'],
    ['TLSv1.3', { minVersion: '1.3' }, 'TLSv1.3'],
  ] as const)('accepts %s', async (version, given, expected) => {
    const { dial } = await listening(true, echo, given);
    const socket = (await dial({ minVersion: version, maxVersion: version })) as TLSSocket;
    expect(socket.getProtocol()).toBe(expected);
    socket.destroy();
  });

  it.each([
    ['TLS 1.1', {}, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['TLS 1.2 if 1.3 is required', { minVersion: '1.3' }, { maxVersion: 'TLSv1.2' }],
    ['a cipher without forward secrecy', {}, { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
    ['a cipher without authentication of the bytes', {}, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }],
    ['HTTP/2', {}, { ALPNProtocols: ['h2'] }],
  ] as const)('refuses %s', async (_what, given, client) => {
    const { dial, failed, seen } = await listening(true, echo, given);
    await expect(dial(client as ConnectionOptions)).rejects.toThrow();
    await until(() => failed.length === 1);
    expect(seen).toEqual([]);
  });

  it('speaks HTTP/1.1 with a client that also offers HTTP/2', async () => {
    const { dial } = await listening(true);
    const socket = (await dial({ ALPNProtocols: ['h2', 'http/1.1'] })) as TLSSocket;
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  it('closes and counts a connection that speaks plain HTTP', async () => {
    const { port, failed, seen } = await listening(true);
    const socket = await dialPlain(port);
    const text = heard(socket);
    socket.write(LAST);
    expect(await text).not.toContain('HTTP/1.1 200');
    expect([failed.length, seen]).toEqual([1, []]);
  });

  // Without this timeout, a client that opens connections and never completes a handshake would occupy them forever.
  it('closes and counts a connection whose handshake takes too long', async () => {
    const { port, failed } = await listening(true, echo, { handshakeTimeoutSeconds: 0.05 });
    const socket = await dialPlain(port);
    await heard(socket);
    expect(failed.length).toBe(1);
  });
});

describe('client certificates', () => {
  const authority = createCertificate({ name: 'clients' });
  const valid = createCertificate({ name: 'client', issuer: authority });
  const foreign = createCertificate({ name: 'client' });

  async function asking(clientCertificates: TlsOptions['clientCertificates']) {
    const served = await listening(true);
    const { identity, options } = served.files;
    await served.listener.close({ finishMs: 0 });
    const secured = { ...identity, context: { ...identity.context, ca: authority.cert } };
    const created = createListenerServer(
      (request, response) => {
        served.seen.push(request.url ?? '');
        echo(request, response);
      },
      {
        ...LISTENER,
        secure: {
          options: { ...options, clientCertificates },
          identity: secured,
          onHandshakeFailed: () => void served.failed.push('handshake'),
        },
      },
    );
    const listener = await listen(created, LISTENER);
    open.push(listener);
    const { port } = created.server.address() as AddressInfo;
    /** Sends one request. Returns the status line, or an empty string if the connection was closed instead. */
    const status = async (client?: { readonly cert: string; readonly key: string }) => {
      try {
        const socket = await connectTls(port, {
          ca: served.ca,
          servername: 'localhost',
          ...(client && { cert: client.cert, key: client.key }),
        });
        const text = heard(socket);
        socket.write(LAST);
        return (await text).split('\r\n', 1)[0] ?? '';
      } catch {
        return '';
      }
    };
    return { ...served, status };
  }

  const OK = 'HTTP/1.1 200 OK';

  it.each([
    ['none', [OK, OK, OK]],
    ['optional', [OK, OK, '']],
    ['required', ['', OK, '']],
  ] as const)('if %s: without one, with a valid one, with one of another authority', async (kind, expected) => {
    const { status, failed, seen } = await asking(kind);
    expect([await status(), await status(valid), await status(foreign)]).toEqual(expected);
    expect(failed.length).toBe(expected.filter((one) => one === '').length);
    expect(seen.length).toBe(expected.filter((one) => one === OK).length);
  });

  it('are refused after their end', async () => {
    const { status } = await asking('required');
    const old = createCertificate({ name: 'client', issuer: authority, notAfter: new Date(Date.now() - 1000) });
    expect(await status(old)).toBe('');
  });
});

describe('a listener with TLS that closes', () => {
  it('serves the request of a client whose handshake was in progress', async () => {
    const { listener, port, ca, created } = await listening(true);
    const socket = connect(port, '127.0.0.1');
    await until(() => created.handshakes?.size === 1);
    const closed = listener.close({ finishMs: 60_000, idleMs: 5_000 });
    const secure = await connectTls(port, { socket, ca, servername: 'localhost' });
    const text = heard(secure);
    secure.write(get('/late'));
    expect(await text).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close[^]*<\/late >/);
    await closed;
  });

  it('does not wait for a handshake that never ends', async () => {
    const { listener, port, created } = await listening(true);
    const socket = connect(port, '127.0.0.1');
    const text = heard(socket);
    await until(() => created.handshakes?.size === 1);
    await listener.close({ finishMs: 60_000, idleMs: 0 });
    expect(await text).toBe('');
    await until(() => created.handshakes?.size === 0);
  });

  it('lets requests in flight finish', async () => {
    const responses: ServerResponse[] = [];
    const { listener, dial, created } = await listening(true, (_request, response) => responses.push(response));
    const socket = await dial();
    const text = heard(socket);
    socket.write(get('/'));
    await until(() => responses.length === 1);
    const closed = listener.close({ finishMs: 60_000, idleMs: 0 });
    await until(() => !created.server.listening);
    responses[0]?.end('done');
    expect(await text).toMatch(/done$/);
    await closed;
  });

  it('has an address that names its scheme', async () => {
    const { listener } = await listening(true);
    expect(listener.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });
});
