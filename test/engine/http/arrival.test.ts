import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import {
  type ArrivalOptions,
  createArrivalReader,
  type HttpArrival,
  requestIdOf,
} from '../../../src/engine/http/arrival.ts';
import { callAt } from '../../builders/call.ts';
import { serve, talk } from './serve.ts';

describe('arrivals', () => {
  const OPTIONS: ArrivalOptions = {
    maxTargetBytes: 100,
    publicBasePath: '',
    publicOrigin: undefined,
    trustedProxies: [],
    clock: () => 5_000,
  };

  /** Creates a request as Node would, with the given target and headers (alternating names and values). */
  function requestOf(url: string | undefined, rawHeaders: readonly string[] = [], more: Partial<IncomingMessage> = {}) {
    const request = new IncomingMessage(new Socket());
    // Node's parser calls this method, but Node's types do not declare it.
    (request as unknown as { _addHeaderLines(headers: readonly string[], count: number): void })._addHeaderLines(
      rawHeaders,
      rawHeaders.length,
    );
    const socket = { remoteAddress: '192.0.2.1' };
    return Object.assign(request, { url, method: 'GET', socket, ...more });
  }

  const arrivalOf = (url: string, rawHeaders: readonly string[] = [], options: Partial<ArrivalOptions> = {}) =>
    createArrivalReader({ ...OPTIONS, ...options })(requestOf(url, rawHeaders));
  const read = (url: string, publicBasePath = '', maxTargetBytes = 100) =>
    arrivalOf(url, [], { publicBasePath, maxTargetBytes });

  /** Returns the error code if the call is refused, and undefined otherwise. */
  function refused(act: () => unknown): string | undefined {
    try {
      act();
      return undefined;
    } catch (error) {
      return error instanceof GatewayError ? error.code : String(error);
    }
  }

  describe('an arrival', () => {
    it('contains the raw target, its path and its query', () => {
      const { method, rawTarget, target, path, query, receivedAt, clientAddress } = read('/a/b.json?q=%20x&&');
      expect({ method, rawTarget, target, path, query, receivedAt, clientAddress }).toEqual({
        method: 'GET',
        rawTarget: '/a/b.json?q=%20x&&',
        target: '/a/b.json?q=%20x&&',
        path: '/a/b.json',
        query: 'q=%20x&&',
        receivedAt: 5_000,
        clientAddress: '192.0.2.1',
      });
    });

    it('contains the headers that identify the caller and those for the reply', () => {
      const raw = ['Authorization', 'Basic x', 'If-None-Match', '"t"', 'Accept-Encoding', 'gzip', 'X-Odd', 'y'];
      const arrival = arrivalOf('/a', raw);
      expect(arrival).toMatchObject({ authorization: 'Basic x', ifNoneMatch: '"t"', acceptEncoding: 'gzip' });
      expect([arrival.headers['x-odd'], arrival.rawHeaders]).toEqual(['y', raw]);
    });

    it.each([
      [['X-Auth-Token', 't', 'Cookie', 'a=b'], 't\na=b'],
      [['X-Auth-Token', 't'], 't'],
      [['Cookie', 'a=b', 'Cookie', 'c=d'], 'a=b; c=d'],
      [['X-Auth-Token', '', 'Cookie', ' '], undefined],
      [[], undefined],
    ])('contains tokens and cookies, which may identify the caller too: %j is %j', (raw, expected) => {
      expect(arrivalOf('/a', raw).otherCredential).toBe(expected);
    });

    it('contains the body of its request', () => {
      const request = requestOf('/a');
      expect(createArrivalReader(OPTIONS)(request).body).toBe(request);
    });

    it('distinguishes a missing query from an empty one', () => {
      expect([read('/a').query, read('/a?').query]).toEqual([undefined, '']);
    });

    it('contains the origin form of an absolute target', () => {
      expect(read('http://user:x@elsewhere:80/a?b').target).toBe('/a?b');
      expect(read('HTTPS://elsewhere?b').target).toBe('/?b');
      expect(read('http://elsewhere').target).toBe('/');
    });

    it.each([
      ['/qa/services/v2/a.json?b', '/services/v2/a.json?b'],
      ['/qa', '/'],
      ['/qa?b', '/?b'],
    ])('has the public base path removed: %s is %s', (url, target) => {
      expect(read(url, '/qa').target).toBe(target);
    });

    it.each(['/services/v2/a.json', '/qab/services/v2/a.json', '/QA/services/v2/a.json'])(
      'is refused outside the public base path: %s',
      (url) => {
        expect(refused(() => read(url, '/qa').path)).toBe('not_in_contract');
      },
    );

    it('is refused if its target is longer than the limit, but not at the limit', () => {
      expect(refused(() => read('/12345', '', 6).path)).toBeUndefined();
      expect(refused(() => read('/123456', '', 6).path)).toBe('target_too_long');
    });

    it.each(['*', '/a/../b', '/qa/../b', 'ftp://elsewhere/a', ''])('is refused if its target is unsafe: %s', (url) => {
      for (const part of ['path', 'query', 'target'] as const)
        expect(refused(() => read(url)[part])).toBe('unsafe_path');
    });

    // A refused request must also be logged and counted under its own id, and its response must contain that id.
    it('has its ids even if its target is refused', () => {
      const { requestId, rawTarget, method, receivedAt } = arrivalOf('/a/../b', ['X-Request-Id', 'mine']);
      expect({ requestId, rawTarget, method, receivedAt }).toEqual({
        requestId: 'mine',
        rawTarget: '/a/../b',
        method: 'GET',
        receivedAt: 5_000,
      });
    });

    it('contains its headers in any capitalization, and distinguishes an empty header from a missing one', () => {
      const spelled = (name: string) => [name, name.toLowerCase(), name.toUpperCase()];
      for (const name of spelled('If-None-Match')) expect(arrivalOf('/a', [name, '"t"']).ifNoneMatch).toBe('"t"');
      for (const name of spelled('Authorization')) expect(arrivalOf('/a', [name, '']).authorization).toBe('');
      for (const name of spelled('X-Request-Id')) expect(arrivalOf('/a', [name, 'mine']).requestId).toBe('mine');
      expect(arrivalOf('/a').authorization).toBeUndefined();
    });

    // The attack: a client sends a second id, trace or condition, so that one part of the gateway might read the first
    // and another part the second. Repeated headers are joined into a single value (RFC 9110 §5.3), which is
    // not a valid id or trace.
    it('joins repeated headers', () => {
      const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const repeated = ['If-None-Match', '"a"', 'if-none-match', '"b"', 'X-Request-Id', 'one', 'X-Request-ID', 'two'];
      const arrival = arrivalOf('/a', [...repeated, 'Traceparent', trace, 'traceparent', trace]);
      expect(arrival.ifNoneMatch).toBe('"a", "b"');
      expect(arrival.requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(arrival.traceparent).not.toContain('a'.repeat(32));
    });
  });

  describe('the scheme and host of an arrival', () => {
    const forged = ['Host', 'evil.example', 'X-Forwarded-Proto', 'https'];

    it('are those that the client used, or the configured ones', () => {
      expect(arrivalOf('/a', forged)).toMatchObject({ protocol: 'http', host: 'evil.example' });
      const publicOrigin = { protocol: 'https', host: 'qa.example' };
      expect(arrivalOf('/a', forged, { publicOrigin })).toMatchObject(publicOrigin);
      expect(arrivalOf('/a').host).toBeUndefined();
    });

    it('are those of HTTPS on an encrypted connection', () => {
      const socket = { remoteAddress: '192.0.2.1', encrypted: true } as unknown as IncomingMessage['socket'];
      expect(createArrivalReader(OPTIONS)(requestOf('/a', [], { socket })).protocol).toBe('https');
    });
  });

  /**
   * Sends a request over a real connection. Returns the client's address and protocol as determined with these trusted
   * proxies.
   */
  async function arrivedWith(
    trustedProxies: readonly string[],
    headers: Readonly<Record<string, string | readonly string[]>>,
  ) {
    const readArrival = createArrivalReader({ ...OPTIONS, trustedProxies });
    const { promise, resolve } = Promise.withResolvers<Pick<HttpArrival, 'clientAddress' | 'protocol'>>();
    const { url } = await serve((request, response) => {
      const { clientAddress, protocol } = readArrival(request);
      resolve({ clientAddress, protocol });
      response.end();
    });
    await callAt(url, '/', { headers });
    return promise;
  }

  const FORWARDED = { 'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Proto': 'https' };

  describe('the client of a request', () => {
    it('is the peer address if no proxy is trusted, whatever the headers contain', async () => {
      expect(await arrivedWith([], FORWARDED)).toEqual({ clientAddress: '127.0.0.1', protocol: 'http' });
    });

    it('is the address that a trusted proxy reports', async () => {
      expect(await arrivedWith(['127.0.0.1'], FORWARDED)).toEqual({ clientAddress: '198.51.100.7', protocol: 'https' });
      expect(await arrivedWith(['loopback'], {})).toEqual({ clientAddress: '127.0.0.1', protocol: 'http' });
    });

    // The attack: a client sends its own X-Forwarded-For header, to which the proxy appends the client's real address.
    it('is the nearest address that is not a trusted proxy', async () => {
      const headers = { 'X-Forwarded-For': '203.0.113.9, 198.51.100.7', 'X-Forwarded-Proto': 'https, http' };
      expect(await arrivedWith(['127.0.0.1'], headers)).toEqual({ clientAddress: '198.51.100.7', protocol: 'https' });
      const two = await arrivedWith(['127.0.0.1', '198.51.100.0/24'], headers);
      expect(two.clientAddress).toBe('203.0.113.9');
    });

    // The attack: a client evades the per-address limits by sending a different value each time, for example one that
    // includes its port, or text that is not an address.
    it.each([
      ['198.51.100.7:51234', '198.51.100.7'],
      ['"198.51.100.7:51234"', '198.51.100.7'],
      ['2001:db8::1', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['"[2001:db8::1]:51234"', '2001:db8::1'],
      ['::ffff:198.51.100.7', '::ffff:198.51.100.7'],
      ['203.0.113.9, 198.51.100.7', '198.51.100.7'],
      ['203.0.113.9,198.51.100.7:1', '198.51.100.7'],
      ['203.0.113.9, 10.0.0.2', '203.0.113.9'],
      ['203.0.113.9, 10.0.0.2:443, 10.0.0.3', '203.0.113.9'],
      ['203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
      ['203.0.113.9, 10.0.0.2, 10.0.0.3, 127.0.0.1', '203.0.113.9'],
      ['10.0.0.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
      ['unknown', '127.0.0.1'],
      ['_hidden', '127.0.0.1'],
      ['203.0.113.9, unknown', '127.0.0.1'],
      ['203.0.113.9, x, 10.0.0.2', '10.0.0.2'],
      ['203.0.113.9, , 10.0.0.2', '10.0.0.2'],
      ['203.0.113.9,', '127.0.0.1'],
      ['', '127.0.0.1'],
      ['999.1.1.1', '127.0.0.1'],
      ['203.0.113.9\t', '203.0.113.9'],
      ['0x7f.1', '127.0.0.1'],
      ['127.1', '127.0.0.1'],
      ['localhost', '127.0.0.1'],
      ['<script>', '127.0.0.1'],
    ])('behind trusted proxies that report "%s" is %s', async (list, address) => {
      const trusted = ['loopback', '10.0.0.0/8'];
      expect((await arrivedWith(trusted, { 'X-Forwarded-For': list })).clientAddress).toBe(address);
    });

    it('is found in several X-Forwarded-For headers as in one list', async () => {
      const list = ['203.0.113.9', '198.51.100.7, 10.0.0.2'];
      const { clientAddress } = await arrivedWith(['loopback', '10.0.0.0/8'], { 'X-Forwarded-For': list });
      expect(clientAddress).toBe('198.51.100.7');
    });

    // The scheme becomes part of addresses in responses.
    it.each([
      ['https', 'https'],
      ['HTTPS', 'https'],
      [' https , http', 'https'],
      ['http', 'http'],
      ['javascript', 'http'],
      ['https://evil.example/?', 'http'],
      ['ftp', 'http'],
      ['', 'http'],
    ])('behind a trusted proxy that reports the protocol "%s" uses %s', async (sent, protocol) => {
      expect((await arrivedWith(['loopback'], { 'X-Forwarded-Proto': sent })).protocol).toBe(protocol);
    });

    it('is the peer address if the peer is not a trusted proxy', async () => {
      expect(await arrivedWith(['192.0.2.0/24'], FORWARDED)).toEqual({ clientAddress: '127.0.0.1', protocol: 'http' });
    });

    // A write, or the refresh of a stored page, can continue after the client has disconnected. The upstream must
    // still receive the client's address.
    it('remains the same after the connection is closed', async () => {
      for (const [trustedProxies, address] of [
        [[], '127.0.0.1'],
        [['127.0.0.1'], '198.51.100.7'],
      ] as const) {
        const readArrival = createArrivalReader({ ...OPTIONS, trustedProxies });
        const { promise, resolve } = Promise.withResolvers<HttpArrival>();
        const { port } = await serve((request) => {
          const arrival = readArrival(request);
          request.socket.once('close', () => resolve(arrival));
        });
        const { socket } = talk(port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n');
        socket.once('connect', () => setImmediate(() => socket.destroy()));
        expect((await promise).clientAddress).toBe(address);
      }
    });

    it('is undefined if the connection was already closed', () => {
      const socket = { remoteAddress: undefined } as IncomingMessage['socket'];
      for (const trustedProxies of [[], ['127.0.0.1']]) {
        const arrival = createArrivalReader({ ...OPTIONS, trustedProxies })(requestOf('/a', [], { socket }));
        expect([arrival.clientAddress, arrival.protocol]).toEqual(['', 'http']);
      }
    });
  });

  describe('an arrival with an expectation', () => {
    const asking = (...raw: string[]) => refused(() => arrivalOf('/a', raw).checkExpectation());

    it('is refused if the expectation cannot be met', () => {
      expect(asking('Expect', 'something-else')).toBe('expectation_failed');
      expect(asking('Expect', '100-continue', 'Expect', 'something-else')).toBe('expectation_failed');
      expect(asking('Expect', ' 100-Continue ')).toBeUndefined();
      expect(asking()).toBeUndefined();
    });
  });

  describe('a request id', () => {
    it.each([
      'abc-1',
      'A.b:c+d/e=f_g-h',
      'x'.repeat(128),
      '3fa85f64-5717-4562-b3fc-2c963f66afa6',
      '0af7651916cd43dd8448eb211c80319c',
      '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'V1StGXR8_Z5jdHi6B-myT',
      'Root=1-67891233-abcdef012345678912345678',
      '1700000000000-17',
      'tasks-and-tokens-7',
      'release-1.2.3.4.5',
      '2026-05-04T10:15:30.123+02:00',
      '12345678-1234-1234-1234-123456789012',
      '4bf92f3577b34da6a3ce929d0e0e4736:00f067aa0ba902b7:0:1',
      'hotel-12345678',
      'AB12-CD34',
    ])('is taken from the client if it is harmless: %s', (id) => {
      expect(requestIdOf(id)).toBe(id);
    });

    it.each(['', 'a b', 'a@b.example', 'a\nb', '<b>', 'ä', 'x'.repeat(129)])(
      'is newly generated instead of %j',
      (id) => {
        expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
      },
    );

    // The log, the ledger and the upstream all receive the client's request id.
    it.each([
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc',
      'id-sk_live_4eC39HqLyjWDarjtT1zdp7dc',
      'glpat-abcdefghijkl12345',
      'password=hunter2',
      'Bearer:abcdef',
      'from-203.0.113.9',
      'ip_203_0_113_9',
      '203.0.113.9',
      Buffer.from('alice:secret').toString('base64'),
      `basic-${Buffer.from('alice:secret').toString('base64url')}`,
      Buffer.from('alice@mail.example').toString('base64'),
      Buffer.from('jörg:pässwört').toString('base64'),
      Buffer.from('jörg@mail.example').toString('base64'),
      '2001:db8:85a3::8a2e:370:7334',
      'fe80::1',
      'from=2001:db8:0:0:1:0:0:1',
      'alice=40mail.example',
      '+49-170-1234567',
      'tel:0301234567',
      'phone_030_1234_567',
      '4111-1111-1111-1111',
      'card:4111111111111111',
      'c4111_1111_1111_1111',
      '-212--555-0123',
      'DE89370400440532013000',
      'DE89-3704-0044-0532-0130-00',
      'GB29NWBK60161331926819',
      'whsec_abcdefghijklmnop',
      'github_pat_11ABCDEFG0abcdef',
      'ASIAIOSFODNN7EXAMPLE',
      'AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
      'SG.abcdefgh.ijklmnop',
    ])('is newly generated instead of a possible secret: %s', (id) => {
      expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('is newly generated each time if the client sends none or more than one', () => {
      expect(requestIdOf(undefined)).not.toBe(requestIdOf(undefined));
      expect(requestIdOf(['a', 'b'])).toMatch(/^[0-9a-f-]{36}$/);
    });

    it("is accompanied by the caller's trace", () => {
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const found = arrivalOf('/a', ['traceparent', traceparent, 'tracestate', 'a=b', 'X-Request-Id', 'id']);
      expect(found).toMatchObject({ requestId: 'id', tracestate: 'a=b' });
      expect(found.traceparent.slice(0, 36)).toBe(traceparent.slice(0, 36));
      expect(found.traceparent).not.toBe(traceparent);
    });

    it('is newly generated with its trace if the client sends harmful ones', () => {
      for (const raw of [[], ['X-Request-Id', 'a b', 'traceparent', 'odd', 'tracestate', 'a=b']]) {
        const { requestId, traceparent, tracestate } = arrivalOf('/a', raw);
        expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
        expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
        expect(tracestate).toBeUndefined();
      }
    });
  });
});
