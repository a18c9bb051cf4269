import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { endToEnd } from '../../src/engine/upstream/headers.ts';
import { createProxy, sendProxied, uploadOf } from '../../src/engine/upstream/send-proxied.ts';
import { createStop } from '../../src/engine/upstream/sending.ts';
import { UPSTREAM_DEFAULTS } from '../../src/engine/upstream/upstream-options.ts';
import { connectRaw } from '../engine/upstream/support/raw-client.ts';
import { startRawServer, type RawRequest, type RawServer } from '../engine/upstream/support/raw-server.ts';

/*
 * The attack: a client sends `Connection: Content-Length`, because `Connection` lists the headers that are meant only
 * for the next hop. A proxy that follows this header forwards the body without its length. The upstream then assumes
 * that the request ends with its head. It treats the client's body as the next request on that connection, although the
 * gateway has never checked that request. A stricter upstream discards the body and still reports success. Therefore,
 * framing headers and `Host` are never removed as connection headers, and every body is forwarded with a length or
 * chunked.
 *
 * The upstream in this test is lenient: it reads a second request after what it takes to be the end of the first.
 */

const HIDDEN = 'DELETE /services/v2/hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
const FRAMINGS = {
  'a length': { header: `Content-Length: ${HIDDEN.length}`, body: HIDDEN },
  chunks: {
    header: 'Transfer-Encoding: chunked',
    body: `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
  },
};
const NAMED = [
  'Content-Length',
  'Transfer-Encoding',
  'Host',
  'content-length , tRANSFER-eNCODING,host',
  'keep-alive, Content-Length\r\nConnection: Transfer-Encoding, Host',
  'Content-Type, Content-Encoding, Content-Length',
];
const SAFE = ['GET', 'HEAD', 'OPTIONS'];
const ALL = [...SAFE, 'TRACE', 'DELETE', 'POST', 'PUT', 'PATCH', 'PROPFIND'];
const PASSED = '/services/v2/anything';

/** Every way of forwarding an undocumented request, and the documented operations whose bodies are streamed. */
const WAYS = [
  { name: 'observe, without a credential', methods: ALL, target: PASSED, authorization: [] },
  { name: 'staging', methods: SAFE, target: PASSED, authorization: [`Authorization: ${basic('admin')}`] },
  {
    name: 'strict with an allow entry',
    methods: ALL,
    target: PASSED,
    authorization: [`Authorization: ${basic('admin')}`],
  },
  { name: 'observe, documented', methods: ['GET', 'HEAD'], target: '/services/v2/question.json', authorization: [] },
  {
    name: 'observe, documented write',
    methods: ['POST'],
    target: '/services/v2/users/gdpr/upload.json',
    authorization: [],
  },
];

async function startMode(mode: string): Promise<{ upstream: RawServer; gateway: TestGateway }> {
  const upstream = await startRawServer(respond);
  const undocumented = mode === 'strict' ? { allow: [{ method: '*', path: '/services/v2/**' }] } : {};
  const options = mode === 'observe' ? { real: true } : {};
  const gateway = await startTestGateway({ upstream: upstream.origin, config: { mode, undocumented }, ...options });
  return { upstream, gateway };
}

function respond({ head, socket }: RawRequest): void {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${head.startsWith('HEAD') ? '' : '{}'}`);
}

describe.each(WAYS)('$name', ({ name, methods, target, authorization }) => {
  it.each(methods)('forwards the body of a %s as one body, whatever `Connection` names', async (method) => {
    const { upstream, gateway } = await startMode(name.replace(/\W.*/, ''));
    const port = Number(new URL(gateway.url).port);
    for (const [framing, { header, body }] of Object.entries(FRAMINGS)) {
      for (const named of NAMED) {
        const before = upstream.requests.length;
        const client = await connectRaw(port);
        const lines = [`${method} ${target} HTTP/1.1`, 'Host: public.example', ...authorization];
        client.send(...lines, 'Content-Type: text/plain', header, `Connection: ${named}`, '', body);
        const received = await client.until(/^HTTP\/1\.1 \d{3} /);
        client.socket.destroy();
        const [request, ...smuggled] = upstream.requests.slice(before);
        const seen = [framing, named, received.slice(9, 12)];
        expect([...seen, smuggled.map(({ head }) => head)]).toEqual([framing, named, '200', []]);
        expect([...seen, request?.body.includes(HIDDEN)]).toEqual([...seen, true]);
        const head = request?.head ?? '';
        expect(head.match(/^(?:content-length|transfer-encoding):.*$/gim)).toHaveLength(1);
        expect(head.match(/^host:.*$/gim)).toEqual([`host: ${new URL(upstream.origin).host}`]);
        expect(head).toMatch(/^content-type: text\/plain$/im);
      }
    }
  });
});

describe('the upstream’s `Connection` header', () => {
  // If this header could remove the coding or the length of a response, the client would misread the response.
  it('removes headers of the connection, but none that frame or describe the content', () => {
    const kept = [
      ['Content-Encoding', 'br'],
      ['Content-Length', '5'],
      ['Content-Type', 'text/html'],
      ['Cache-Control', 'private'],
    ] as const;
    const all = ['X-Hop', 'Content-Encoding', 'content-length', 'Content-Type', 'cache-control'].join(', ');
    expect(endToEnd(['Connection', all, 'X-Hop', '1', ...kept.flat()])).toEqual(kept);
  });
});

describe('the framing of a proxied request', () => {
  // A second safeguard: no header filter can remove the framing of a body.
  it.each([
    ['content-length: 5', { 'content-length': '5' }, 'hello'],
    ['transfer-encoding: chunked', { 'transfer-encoding': 'chunked' }, '5\r\nhello\r\n'],
  ])('comes from the parser of the client’s request: %s', async (framing, headers, expected) => {
    const upstream = await startRawServer(respond);
    const { host } = new URL(upstream.origin);
    const claimed = [['Content-Length', '0'] as const, ['Transfer-Encoding', 'gzip'] as const, ['Host', 'x'] as const];
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const body = Readable.from(Buffer.from('hello'));
      const upload = uploadOf({ headers, body });
      const request = { method, path: '/', headers: claimed, body, length: upload?.length };
      await sendProxied(createProxy(upstream.origin, UPSTREAM_DEFAULTS), request, {
        stop: createStop(),
        options: UPSTREAM_DEFAULTS,
      });
      const sent = upstream.requests.at(-1);
      expect(sent?.head.match(/^(?:host|content-length|transfer-encoding):.*$/gim)).toEqual([`host: ${host}`, framing]);
      expect(sent?.body).toBe(expected);
    }
    expect(upstream.requests).toHaveLength(3);
  });
});
