import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../bench/free-port.ts';
import { startGateway } from '../../upstream/support/gateway.ts';
import { selfSigned } from '../../upstream/support/self-signed.ts';
import { connectRaw, sendRaw } from '../../upstream/support/raw-client.ts';
import { reply, startRawServer, type RawRequest } from '../../upstream/support/raw-server.ts';

const ok = (request: RawRequest) => reply(request, 200, 'x');
const fieldsOf = (request: RawRequest | undefined) => request?.head.split('\r\n').slice(1) ?? [];
const get = (path: string, ...fields: string[]) => [`GET ${path} HTTP/1.1`, 'Host: public.example', ...fields, '', ''];
const closing = (path: string, ...fields: string[]) => get(path, 'Connection: close', ...fields);

/** The two ways to forward a request: without a body, and with a body that the proxy library sends. */
const WAYS = [
  ['without a body', (...fields: string[]) => get('/a', ...fields)],
  [
    'with a body',
    (...fields: string[]) => ['POST /a HTTP/1.1', 'Host: public.example', ...fields, 'Content-Length: 3', '', 'abc'],
  ],
] as const;
type Way = (typeof WAYS)[number][1];

describe('a forwarded request', () => {
  it('reaches the upstream with its raw path under the base path, its body and its headers', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, { basePath: '/qa' });
    const big = '{"id":9007199254740993,"id":1e400}';
    await fetch(`${gateway.origin}/services/v2/a%2Fb.json?q=b%20c+d`, {
      method: 'POST',
      body: big,
      headers: { 'x-own': '1' },
    });
    expect(server.requests[0]?.head).toMatch(/^POST \/qa\/services\/v2\/a%2Fb\.json\?q=b%20c\+d HTTP\/1\.1\r\n/);
    expect(fieldsOf(server.requests[0])).toContain('x-own: 1');
    expect(server.requests[0]?.body).toBe(big);
  });

  // The library's path filter checks a normalized path but forwards the original path. A URL parser would find a
  // different host in the original path.
  it.each(['//evil.example/x', '/\\evil.example/x', '/a//b/./c;d?e=//f', '//', '/a|b"<>`{}^%zz', '/x?y=\\..\\z'])(
    'keeps the path %s as a path on the one upstream',
    async (path) => {
      const server = await startRawServer(ok);
      const gateway = await startGateway(server.origin);
      await sendRaw(gateway.port, ...closing(path));
      expect(server.requests.map((request) => request.head.split('\r\n')[0])).toEqual([`GET ${path} HTTP/1.1`]);
      expect(fieldsOf(server.requests[0])).toContain(`host: ${new URL(server.origin).host}`);
    },
  );

  it('is refused in absolute form and not forwarded', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    expect(await sendRaw(gateway.port, ...closing('http://evil.example/x'))).toContain(
      'characters that cannot be forwarded',
    );
    expect(server.requests).toEqual([]);
  });

  // If a request has an `Expect` header, the library does not call any request hook, and its body helper hangs.
  it('loses its Expect header, and its body still arrives', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    const client = await connectRaw(gateway.port);
    client.send(
      'POST /a HTTP/1.1',
      'Host: x',
      'Expect: 100-continue',
      'Content-Length: 3',
      'Connection: close',
      '',
      '',
    );
    await client.until(/^HTTP\/1\.1 100 Continue/);
    client.send('abc');
    await client.closed;
    expect(client.received()).toMatch(/HTTP\/1\.1 200 /);
    expect(fieldsOf(server.requests[0]).filter((field) => /^expect/i.test(field))).toEqual([]);
    expect(server.requests[0]?.body).toBe('abc');
  });

  it('loses hop-by-hop headers and those that its Connection header names', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    const hop = [
      'Connection: close, X-Named',
      'X-Named: 1',
      'Keep-Alive: timeout=9',
      'TE: trailers',
      'Proxy-Authorization: Basic eA==',
      'Proxy-Connection: keep-alive',
    ];
    await sendRaw(gateway.port, ...get('/a', ...hop));
    const names = fieldsOf(server.requests[0]).map((field) => field.split(':')[0]?.toLowerCase());
    expect(names).toEqual([
      'host',
      'connection',
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-forwarded-host',
      'via',
      'x-request-id',
      'traceparent',
    ]);
    expect(fieldsOf(server.requests[0])[1]).toBe('connection: keep-alive');
  });

  it('never switches protocols', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    const raw = await sendRaw(gateway.port, ...closing('/socket', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'));
    expect(raw).toMatch(/^HTTP\/1\.1 200 /);
    expect(fieldsOf(server.requests[0]).filter((field) => /^upgrade/i.test(field))).toEqual([]);
  });

  it("carries Portico's forwarding headers, not those of the client", async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    await sendRaw(
      gateway.port,
      ...closing(
        '/a',
        'X-Forwarded-For: 10.0.0.1',
        'X-Forwarded-Host: evil',
        'Forwarded: for=10.0.0.1',
        'X-Real-IP: 10.0.0.1',
        'Via: 1.0 other',
      ),
    );
    expect(fieldsOf(server.requests[0]).filter((field) => /^x-forwarded|^forwarded|^x-real|^via/i.test(field))).toEqual(
      [
        'X-Forwarded-For: 203.0.113.7',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: public.example',
        'Via: 1.0 other, 1.1 portico',
      ],
    );
  });

  it('carries the chosen credential and no header that overrides its method', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, { authorization: 'Basic chosen' });
    await sendRaw(
      gateway.port,
      ...closing('/a', 'Authorization: Basic own', 'X-HTTP-Method-Override: DELETE', 'X-Method-Override: PUT'),
    );
    expect(fieldsOf(server.requests[0]).filter((field) => /^auth|override/i.test(field))).toEqual([
      'Authorization: Basic chosen',
    ]);
  });

  it('carries no credential if none was chosen', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    await sendRaw(gateway.port, ...closing('/a', 'Authorization: Basic own'));
    expect(fieldsOf(server.requests[0]).filter((field) => /^auth/i.test(field))).toEqual([]);
  });

  it('carries all of the client’s headers in observe mode, repeated ones in order', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, { transparent: true, authorization: 'Basic chosen' });
    await sendRaw(
      gateway.port,
      ...closing(
        '/a',
        'Authorization: Basic own',
        'X-HTTP-Method-Override: DELETE',
        'X-Twice: 1',
        'Cookie: a=1',
        'X-Twice: 2',
      ),
    );
    expect(fieldsOf(server.requests[0]).slice(2, 7)).toEqual([
      'Authorization: Basic own',
      'X-HTTP-Method-Override: DELETE',
      'X-Twice: 1',
      'Cookie: a=1',
      'X-Twice: 2',
    ]);
  });

  it.each(['POST', 'GET', 'DELETE'])('keeps the framing of a body of unknown length for method %s', async (method) => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin);
    await sendRaw(
      gateway.port,
      `${method} /a HTTP/1.1`,
      'Host: x',
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      '5',
      'hello',
      '0',
      '',
      '',
    );
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      head: expect.stringMatching(/^transfer-encoding: chunked$/im) as string,
      body: '5\r\nhello\r\n',
    });
  });

  it('streams a large body without buffering it', async () => {
    let length = 0;
    const server = await startRawServer((request) => {
      length = request.body.length;
      ok(request);
    });
    const gateway = await startGateway(server.origin);
    await fetch(`${gateway.origin}/a`, { method: 'PUT', body: Buffer.alloc(3_000_000) });
    expect(length).toBe(3_000_000);
  });
});

describe('a forwarded response', () => {
  it('arrives with its status, headers and bytes', async () => {
    const body = gzipSync('{"a":1}');
    const server = await startRawServer((request) =>
      reply(
        request,
        418,
        body,
        'Content-Encoding: gzip',
        'X-Twice: 1',
        'Set-Cookie: a=1',
        'X-Twice: 2',
        'Set-Cookie: b=2',
      ),
    );
    const gateway = await startGateway(server.origin);
    const text = await sendRaw(gateway.port, ...closing('/a'));
    const [head = '', ...rest] = text.split('\r\n\r\n');
    expect(rest.join('\r\n\r\n')).toBe(body.toString('latin1'));
    expect(head.split('\r\n').filter((line) => !line.startsWith('Date'))).toEqual([
      'HTTP/1.1 418 Whatever',
      'Content-Encoding: gzip',
      'X-Twice: 1',
      'Set-Cookie: a=1',
      'X-Twice: 2',
      'Set-Cookie: b=2',
      `Content-Length: ${body.length}`,
      'Via: 1.1 portico',
      'X-Request-Id: request-1',
      'Connection: close',
    ]);
    await expect
      .poll(() => gateway.results)
      .toMatchObject([{ upstream: { status: 418 }, bytes: body.length, whole: true }]);
  });

  it('loses hop-by-hop headers, and its `Connection: close` leaves the client’s connection open', async () => {
    const server = await startRawServer((request) => {
      reply(
        request,
        200,
        'one',
        'Connection: close, X-Hop',
        'X-Hop: 1',
        'Keep-Alive: timeout=1',
        'Proxy-Authenticate: Basic',
        'Upgrade: h2c',
        'Trailer: X',
      );
      request.socket.end();
    });
    const gateway = await startGateway(server.origin);
    const client = await connectRaw(gateway.port);
    client.send(...get('/a'));
    const first = await client.until(/one$/);
    expect(first).not.toMatch(/^(?:connection: close|x-hop|proxy-|upgrade|trailer|keep-alive: timeout=1\r)/im);
    client.send(...get('/b'));
    await client.until(/one.*one$/s);
    expect(server.requests).toHaveLength(2);
    client.socket.destroy();
  });

  it.each([
    ['a HEAD request', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', /Content-Length: 5\r\n/],
    ['status 204', 'GET', 'HTTP/1.1 204 None\r\n\r\n', /^HTTP\/1\.1 204 None\r\n/],
    ['status 304', 'GET', 'HTTP/1.1 304 Same\r\nETag: "a"\r\n\r\n', /ETag: "a"\r\n/],
  ])('is complete without a body for %s', async (_case, method, message, expected) => {
    const server = await startRawServer((request) => request.socket.write(message));
    const gateway = await startGateway(server.origin);
    const text = await sendRaw(gateway.port, `${method} /a HTTP/1.1`, 'Host: x', 'Connection: close', '', '');
    expect(text).toMatch(expected);
    expect(text.split('\r\n\r\n')[1]).toBe('');
    await expect.poll(() => gateway.results).toMatchObject([{ bytes: 0, whole: true }]);
  });

  it('arrives during the upload if the upstream responds early', async () => {
    const server = await startRawServer(() => undefined);
    const gateway = await startGateway(server.origin);
    const client = await connectRaw(gateway.port);
    client.send('POST /a HTTP/1.1', 'Host: x', 'Content-Length: 1000000', '', '', 'abc');
    await expect.poll(() => server.sockets.size).toBe(1);
    for (const socket of server.sockets)
      socket.write('HTTP/1.1 413 Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
    await client.until(/^HTTP\/1\.1 413 .*no$/s);
    client.socket.destroy();
  });

  it('may pause for as long as the body timeout allows if it began before the end of the upload', async () => {
    const server = await startRawServer((request) => void setTimeout(() => request.socket.write('done'), 150));
    const gateway = await startGateway(server.origin, { options: { headersTimeoutMs: 40 } });
    const client = await connectRaw(gateway.port);
    client.send('POST /a HTTP/1.1', 'Host: x', 'Content-Length: 100000', '', 'abc');
    await expect.poll(() => server.sockets.size).toBe(1);
    for (const socket of server.sockets) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf');
    await client.until(/half$/);
    client.send('x'.repeat(99_997));
    await client.until(/halfdone$/);
    client.socket.destroy();
  });

  it('leaves no listeners on a connection that is reused many times', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const server = await startRawServer((request) => reply(request, 200, 'done', 'Content-Type: text/plain'));
    const gateway = await startGateway(server.origin);
    const client = await connectRaw(gateway.port);
    for (let count = 1; count <= 30; count += 1) {
      client.send(...get('/a'));
      await client.until((text) => text.split('done').length > count);
    }
    await setImmediate();
    process.off('warning', warn);
    client.socket.destroy();
    expect(warnings).toEqual([]);
  });
});

function setImmediateTwice(action: () => void): void {
  void setImmediate()
    .then(() => setImmediate())
    .then(action);
}

describe('a persistent connection of the passthrough', () => {
  it('is reused for safe requests', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, { options: { idleTimeoutMs: 60_000 } });
    await sendRaw(gateway.port, ...closing('/a'));
    await sendRaw(gateway.port, ...closing('/b'));
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1]);
  });

  it('is closed by Portico after the idle timeout', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, { options: { idleTimeoutMs: 100 } });
    await sendRaw(gateway.port, ...closing('/a'));
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('is replaced once for a safe request if it has been closed in the meantime', async () => {
    const server = await startRawServer((request) =>
      request.turn === 2 ? request.socket.resetAndDestroy() : ok(request),
    );
    const gateway = await startGateway(server.origin);
    await sendRaw(gateway.port, ...closing('/a'));
    expect(await sendRaw(gateway.port, ...closing('/b'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 2]);
    expect(gateway.stats().inFlight).toBe(0);
  });

  it('is not replaced if the upstream is only slow', async () => {
    const server = await startRawServer((request) => {
      if (request.head.startsWith('GET /a')) ok(request);
    });
    const gateway = await startGateway(server.origin, { options: { headersTimeoutMs: 50 } });
    await sendRaw(gateway.port, ...closing('/a'));
    expect(await sendRaw(gateway.port, ...closing('/b'))).toMatch(/deadline$/);
    expect(server.requests.map((request) => request.head.split(' ')[1])).toEqual(['/a', '/b']);
  });

  it('is not replaced after the response has begun, nor a second time', async () => {
    const server = await startRawServer((request) => {
      if (request.head.startsWith('GET /a')) ok(request);
      else if (request.head.startsWith('GET /begun')) request.socket.end('HTTP/1.1 20');
      else request.socket.resetAndDestroy();
    });
    const gateway = await startGateway(server.origin);
    await sendRaw(gateway.port, ...closing('/a'));
    expect(await sendRaw(gateway.port, ...closing('/begun'))).toMatch(/reset$/);
    await sendRaw(gateway.port, ...closing('/a'));
    expect(await sendRaw(gateway.port, ...closing('/dead'))).toMatch(/reset$/);
    expect(server.requests.map((request) => request.head.split(' ')[1])).toEqual([
      '/a',
      '/begun',
      '/a',
      '/dead',
      '/dead',
    ]);
  });

  it('is never reused for unsafe requests, which are never sent twice', async () => {
    const server = await startRawServer((request) =>
      request.head.startsWith('GET') ? ok(request) : request.socket.resetAndDestroy(),
    );
    const gateway = await startGateway(server.origin);
    await sendRaw(gateway.port, ...closing('/a'));
    const fetched = await fetch(`${gateway.origin}/b`, { method: 'POST', body: 'x' });
    expect([fetched.status, await fetched.text()]).toEqual([502, 'reset']);
    expect(server.requests.map((request) => [request.connection, request.turn])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it('survives responses that take longer than its idle timeout', async () => {
    const server = await startRawServer((request) => void setTimeout(() => ok(request), 150));
    const gateway = await startGateway(server.origin, { options: { idleTimeoutMs: 30 } });
    expect(await sendRaw(gateway.port, ...closing('/a'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe.each(WAYS)('the response to a request %s', (_way, send: Way) => {
  // Bytes above 0x7f are allowed in a reason phrase (RFC 9112 §4). A phrase decoded as UTF-8 could not be written back
  // unchanged.
  it.each(['No\u00ebl', 'No\u00c3\u00abl'])(
    'reaches the client with bytes beyond ASCII in its reason phrase: %s',
    async (reason) => {
      const server = await startRawServer(({ socket }) =>
        socket.write(`HTTP/1.1 299 ${reason}\r\nContent-Length: 2\r\n\r\nok`, 'latin1'),
      );
      const gateway = await startGateway(server.origin);
      expect(await sendRaw(gateway.port, ...send('Connection: close'))).toMatch(/^HTTP\/1\.1 299 No.*l\r\n[^]*ok$/);
    },
  );

  // The library's response interceptor would turn such a response into a complete 200 response.
  it.each([
    ['declared', 'Content-Length: 10\r\n\r\n12345'],
    ['not declared', '\r\n12345'],
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n'],
  ])('breaks the client’s connection if it is cut short and its length is %s', async (kind, rest) => {
    const server = await startRawServer((request) => {
      request.socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${rest}`);
      // Without a length, the body ends when the connection ends, so only a connection reset shows that the body is
      // incomplete.
      const isReset = kind === 'not declared';
      setImmediateTwice(() => (isReset ? request.socket.resetAndDestroy() : request.socket.end()));
    });
    const gateway = await startGateway(server.origin);
    const text = await sendRaw(gateway.port, ...send());
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(text.split('\r\n\r\n')[1]?.length ?? 0).toBeLessThan(20);
    await expect.poll(() => gateway.results).toMatchObject([{ failure: 'truncated', whole: false }]);
    await expect(fetch(`${gateway.origin}/a`).then((fetched) => fetched.text())).rejects.toThrow();
  });

  it('is forwarded completely if the upstream resets the connection after sending all of it', async () => {
    const passing = Promise.withResolvers<ServerResponse>();
    const server = await startRawServer((request) => {
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345');
      void passing.promise.then(() => request.socket.write('67890', () => request.socket.resetAndDestroy()));
    });
    const gateway = await startGateway(server.origin, {
      onResponse(response) {
        const write = response.write.bind(response) as (part: Buffer) => boolean;
        // This client is not reading yet, so everything after the first part is buffered in memory.
        response.write = ((part: Buffer) => {
          write(part);
          passing.resolve(response);
          return false;
        }) as typeof response.write;
      },
    });
    const client = await connectRaw(gateway.port);
    client.send(...send('Connection: close'));
    const response = await passing.promise;
    await expect.poll(() => server.sockets.size).toBe(0);
    for (let turns = 0; turns < 10; turns += 1) await setImmediate();
    response.emit('drain');
    await client.closed;
    expect(client.received()).toMatch(/1234567890$/);
    await expect
      .poll(() => gateway.results)
      .toMatchObject([{ upstream: { status: 200 }, bytes: 10, failure: undefined }]);
  });
});

describe.each(WAYS)('forwarding a request %s fails', (_way, send: Way) => {
  // By default, the library would respond with 504 and a message that contains the host name.
  it('ends with `refused` if the upstream is not listening, before anything is written', async () => {
    const gateway = await startGateway(`http://127.0.0.1:${await freePort()}`);
    const text = await sendRaw(gateway.port, ...send('Connection: close'));
    expect(text).toMatch(/^HTTP\/1\.1 502 .*refused$/s);
    expect(text).not.toMatch(/127\.0\.0\.1/);
    expect(gateway.stats()).toMatchObject({ inFlight: 0, circuit: 'closed' });
  });

  it('ends with `refused` if the certificate is not trusted', async () => {
    const server = createTlsServer(selfSigned('localhost'), (socket) => socket.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = await startGateway(`https://127.0.0.1:${port}`);
    expect(await sendRaw(gateway.port, ...send('Connection: close'))).toMatch(/refused$/);
    server.close();
  });

  it('ends with `aborted` if the client disconnects, and breaks the connection without counting as a failure', async () => {
    const server = await startRawServer(() => client.socket.destroy());
    const gateway = await startGateway(server.origin, { options: { circuit: { failures: 1, openSeconds: 5 } } });
    const client = await connectRaw(gateway.port);
    client.send(...send());
    await expect.poll(() => gateway.results).toMatchObject([{ failure: 'aborted' }]);
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(gateway.stats()).toMatchObject({ inFlight: 0, circuit: 'closed' });
  });

  it('ends with `aborted`, without calling the upstream, if the client has already disconnected', async () => {
    const server = await startRawServer(ok);
    const gateway = await startGateway(server.origin, {
      async onResponse(response) {
        response.destroy();
        await once(response, 'close');
      },
    });
    await sendRaw(gateway.port, ...send());
    await expect.poll(() => gateway.results).toMatchObject([{ failure: 'aborted' }]);
    expect(server.requests).toEqual([]);
  });

  it('ends with `aborted` if the client disconnects in the middle of a body', async () => {
    const server = await startRawServer((request) =>
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345'),
    );
    const gateway = await startGateway(server.origin, { options: { circuit: { failures: 1, openSeconds: 5 } } });
    const client = await connectRaw(gateway.port);
    client.send(...send());
    await client.until(/12345$/);
    client.socket.destroy();
    await expect
      .poll(() => gateway.results)
      .toMatchObject([{ upstream: { status: 200 }, bytes: 5, failure: undefined, whole: false }]);
    expect(gateway.stats()).toMatchObject({ inFlight: 0, circuit: 'closed' });
  });

  it('ends with `aborted` if the client does not read the last bytes of a complete response', async () => {
    const server = await startRawServer(ok);
    const options = { bodyTimeoutMs: 20, clientTimeoutMs: 60, circuit: { failures: 1, openSeconds: 5 } };
    const gateway = await startGateway(server.origin, {
      options,
      onResponse: (response) => void (response.end = () => response),
    });
    await sendRaw(gateway.port, ...send());
    await expect
      .poll(() => gateway.results)
      .toMatchObject([{ upstream: { status: 200 }, failure: undefined, whole: false }]);
    expect(gateway.stats()).toMatchObject({ inFlight: 0, circuit: 'closed' });
  });

  it('ends without calling the upstream if no slot becomes free or the circuit is open', async () => {
    const server = await startRawServer(() => undefined);
    const gateway = await startGateway(server.origin, {
      options: { concurrency: 1, queue: 0, circuit: { failures: 1, openSeconds: 5 } },
    });
    const client = await connectRaw(gateway.port);
    client.send(...send());
    await expect.poll(() => server.requests.length).toBe(1);
    expect(await sendRaw(gateway.port, ...closing('/b'))).toMatch(/shed$/);
    for (const socket of server.sockets) socket.resetAndDestroy();
    await client.until(/reset$/);
    expect(await sendRaw(gateway.port, ...closing('/c'))).toMatch(/circuit_open$/);
    expect(server.requests).toHaveLength(1);
    client.socket.destroy();
  });

  it('ends with the error itself if Portico fails, and leaves no header behind', async () => {
    const server = await startRawServer((request) => reply(request, 200, 'x', 'X-Upstream: 1'));
    const gateway = await startGateway(server.origin, {
      onResponse(response) {
        response.writeHead = () => {
          Reflect.deleteProperty(response, 'writeHead');
          throw new TypeError('broken');
        };
      },
    });
    const text = await sendRaw(gateway.port, ...send('Connection: close'));
    expect(text).toMatch(/^HTTP\/1\.1 502 .*TypeError/s);
    expect(text).not.toMatch(/x-upstream/i);
    expect(gateway.stats()).toMatchObject({ inFlight: 0, streams: 0 });
  });
});

// These timeouts take seconds to expire, so the two ways to forward a request are tested at the same time.
describe('forwarding a request, without a body or with one, fails', () => {
  const inBothWays = (test: (send: Way, way: string) => Promise<unknown>) =>
    Promise.all(WAYS.map(([way, send]) => test(send, way)));

  it('ends with `deadline` if the connection is not established in time or no response head arrives', async () => {
    const silent = await startRawServer(() => undefined);
    const limits = [
      { origin: silent.origin.replace('http:', 'https:'), options: { connectTimeoutMs: 50 } },
      { origin: silent.origin, options: { headersTimeoutMs: 50 } },
    ];
    await inBothWays((send, way) =>
      Promise.all(
        limits.map(async ({ origin, options }) => {
          const gateway = await startGateway(origin, { options });
          const text = await sendRaw(gateway.port, ...send('Connection: close'));
          expect(text, `${JSON.stringify(options)} ${way}`).toMatch(/deadline$/);
        }),
      ),
    );
    // The connections to the upstream are broken.
    await expect.poll(() => silent.sockets.size).toBe(0);
  });

  it('breaks the connection if a body stalls', async () => {
    const server = await startRawServer((request) =>
      request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345'),
    );
    await inBothWays(async (send, way) => {
      const gateway = await startGateway(server.origin, { options: { bodyTimeoutMs: 50 } });
      await sendRaw(gateway.port, ...send());
      await expect.poll(() => gateway.results, { message: way }).toMatchObject([{ failure: 'deadline', whole: false }]);
    });
  });

  it('ends with `aborted` if the client stops reading for too long', async () => {
    const server = await startRawServer((request) => reply(request, 200, Buffer.alloc(30_000_000)));
    await inBothWays(async (send, way) => {
      const gateway = await startGateway(server.origin, { options: { bodyTimeoutMs: 2500, clientTimeoutMs: 3000 } });
      const client = await connectRaw(gateway.port);
      client.socket.pause();
      client.send(...send());
      await expect
        .poll(() => gateway.results, { message: way })
        .toMatchObject([{ upstream: { status: 200 }, failure: undefined, whole: false }]);
      // Data that the client does not read remains at the upstream, so it does not fill Portico's memory.
      expect(gateway.results[0]?.bytes, way).toBeLessThan(15_000_000);
      client.socket.destroy();
    });
  });
});

describe('an upload fails', () => {
  it('ends with `deadline` if the upstream stops reading an upload', async () => {
    const server = await startRawServer(() => undefined);
    const gateway = await startGateway(server.origin, { options: { bodyTimeoutMs: 100 } });
    const client = await connectRaw(gateway.port);
    client.send('POST /a HTTP/1.1', 'Host: x', 'Content-Length: 100000000', '', '');
    await expect.poll(() => server.sockets.size).toBe(1);
    for (const socket of server.sockets) socket.pause();
    client.socket.write(Buffer.alloc(50_000_000));
    await expect.poll(() => gateway.results).toMatchObject([{ failure: 'deadline' }]);
    client.socket.destroy();
  });
});

describe('addresses of the legacy server', () => {
  it('become public ones in `Location`, but stay unchanged in observe mode', async () => {
    const server = await startRawServer((request) =>
      reply(request, 302, '', `Location: ${server.origin}/qa/services/v2/node/1.json?a=b`),
    );
    const open = await startGateway(server.origin, { basePath: '/qa' });
    expect(await sendRaw(open.port, ...closing('/a'))).toContain(
      'Location: https://public.example/p/services/v2/node/1.json?a=b\r\n',
    );
    const observing = await startGateway(server.origin, { basePath: '/qa', transparent: true });
    expect(await sendRaw(observing.port, ...closing('/a'))).toContain(
      `Location: ${server.origin}/qa/services/v2/node/1.json?a=b\r\n`,
    );
  });

  it('are reported once in a body and not rewritten, even if split across two chunks', async () => {
    const server = await startRawServer((request) => {
      request.socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 47\r\n\r\n["http://old.exa',
      );
      setImmediateTwice(() => request.socket.write('mple/a","http://old.example/b"]'));
    });
    const gateway = await startGateway(server.origin, { options: { legacyOrigins: ['http://old.example'] } });
    expect(await sendRaw(gateway.port, ...closing('/a'))).toMatch(
      /\["http:\/\/old\.example\/a","http:\/\/old\.example\/b"\]$/,
    );
    await expect.poll(() => gateway.results).toMatchObject([{ legacyAddress: true }]);
  });

  it('are rewritten in a body if configured, with a new length and a weak validator', async () => {
    const body = '{"a":"http:\\/\\/old.example\\/x","b":"https://old.example","c":"http://old.example.org/"}';
    const server = await startRawServer((request) =>
      reply(request, 200, body, 'Content-Type: application/json', 'ETag: "e"', 'Accept-Ranges: bytes'),
    );
    const gateway = await startGateway(server.origin, {
      rewriteUrls: true,
      options: { legacyOrigins: ['http://old.example'] },
    });
    const fetched = await fetch(`${gateway.origin}/a`, { headers: { range: 'bytes=0-1', 'accept-encoding': 'gzip' } });
    expect(await fetched.text()).toBe(
      '{"a":"https:\\/\\/public.example\\/p\\/x","b":"https://public.example/p","c":"http://old.example.org/"}',
    );
    expect([fetched.headers.get('etag'), fetched.headers.get('accept-ranges')]).toEqual(['W/"e"', null]);
    expect(fieldsOf(server.requests[0]).filter((field) => /^range|^accept-enc/i.test(field))).toEqual([
      'Accept-Encoding: identity',
    ]);
    await expect.poll(() => gateway.results).toMatchObject([{ legacyAddress: undefined }]);
  });

  it('are never rewritten in a body in observe mode, nor in bodies that are not text', async () => {
    const body = 'http://old.example/x';
    const server = await startRawServer((request) =>
      reply(request, 200, body, `Content-Type: ${request.head.includes('/text') ? 'text/plain' : 'image/png'}`),
    );
    const options = { legacyOrigins: ['http://old.example'] };
    const observing = await startGateway(server.origin, { rewriteUrls: true, transparent: true, options });
    const rewriting = await startGateway(server.origin, { rewriteUrls: true, options });
    expect(await sendRaw(observing.port, ...closing('/text'))).toMatch(/http:\/\/old\.example\/x$/);
    expect(await sendRaw(rewriting.port, ...closing('/image'))).toMatch(/http:\/\/old\.example\/x$/);
  });
});
