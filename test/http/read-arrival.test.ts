import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { identify, readArrival, requestIdOf } from '../../src/http/read-arrival.ts';

const identity = { requestId: 'r', traceparent: 't', tracestate: undefined, receivedAt: 5 };
const request = (url: string, rawHeaders: string[] = []) =>
  ({ url, rawHeaders, method: 'GET', headers: {} }) as unknown as IncomingMessage;
const client = { address: '192.0.2.1', protocol: 'https' };

const read = (url: string, publicBasePath = '', maxTargetBytes = 100) =>
  readArrival(request(url), client, identity, { publicBasePath, maxTargetBytes });

/** The code that a request is refused with. */
function refused(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

describe('an arrival', () => {
  it('holds the raw target, its path and its query', () => {
    expect(read('/a/b.json?q=%20x&&')).toMatchObject({
      method: 'GET',
      target: '/a/b.json?q=%20x&&',
      path: '/a/b.json',
      query: 'q=%20x&&',
      clientAddress: '192.0.2.1',
      protocol: 'https',
      ...identity,
    });
  });

  it('has the host and scheme that the client used, or those of the configuration', () => {
    const from = request('/a');
    from.headers = { host: 'evil.example' };
    const options = { publicBasePath: '', maxTargetBytes: 100 };
    expect(readArrival(from, client, identity, options)).toMatchObject({ protocol: 'https', host: 'evil.example' });
    const publicOrigin = { protocol: 'http', host: 'qa.example' };
    expect(readArrival(from, client, identity, { ...options, publicOrigin })).toMatchObject(publicOrigin);
  });

  it('tells no query from an empty one', () => {
    expect([read('/a').query, read('/a?').query]).toEqual([undefined, '']);
  });

  it('holds the origin form of an absolute target', () => {
    expect(read('http://user:x@elsewhere:80/a?b').target).toBe('/a?b');
    expect(read('HTTPS://elsewhere?b').target).toBe('/?b');
  });

  it.each([
    ['/qa/services/v2/a.json?b', '/services/v2/a.json?b'],
    ['/qa', '/'],
    ['/qa?b', '/?b'],
  ])('has the public base path taken off: %s is %s', (url, target) => {
    expect(read(url, '/qa').target).toBe(target);
  });

  it.each(['/services/v2/a.json', '/qab/services/v2/a.json', '/QA/services/v2/a.json'])(
    'is none of ours outside of the public base path: %s',
    (url) => {
      expect(refused(() => read(url, '/qa'))).toBe('not_in_contract');
    },
  );

  it('is refused when its target is longer than the limit, and not at the limit', () => {
    expect(refused(() => read('/12345', '', 6))).toBeUndefined();
    expect(refused(() => read('/123456', '', 6))).toBe('target_too_long');
  });

  it.each(['*', '/a/../b', '/qa/../b', 'ftp://elsewhere/a'])('is refused when its target is unsafe: %s', (url) => {
    expect(refused(() => read(url))).toBe('unsafe_path');
  });
});

const asking = (headers: Readonly<Record<string, string>>) =>
  refused(() =>
    readArrival(Object.assign(request('/a'), { headers }), client, identity, {
      publicBasePath: '',
      maxTargetBytes: 100,
    }),
  );

describe('an arrival with odd fields', () => {
  it('is refused with an expectation that nobody can meet', () => {
    expect(asking({ expect: 'something-else' })).toBe('expectation_failed');
    expect(asking({ expect: ' 100-Continue ' })).toBeUndefined();
    expect(asking({})).toBeUndefined();
  });
});

describe('the id of a request', () => {
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
  ])('is the own one of the client where it is harmless: %s', (id) => {
    expect(requestIdOf(id)).toBe(id);
  });

  it.each(['', 'a b', 'a@b.example', 'a\nb', '<b>', 'ä', 'x'.repeat(129)])('is a new one in the place of %j', (id) => {
    expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  // What a client calls its request is repeated in the log, in the ledger and upstream.
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
  ])('is a new one in the place of what could be a secret: %s', (id) => {
    expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is a new one each time where there is none or more than one', () => {
    expect(requestIdOf(undefined)).not.toBe(requestIdOf(undefined));
    expect(requestIdOf(['a', 'b'])).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('comes with the time of the request and the trace of its caller', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const found = identify({ headers: { traceparent, 'x-request-id': 'id' } }, () => 7);
    expect(found).toMatchObject({ requestId: 'id', receivedAt: 7 });
    expect(found.traceparent.slice(0, 36)).toBe(traceparent.slice(0, 36));
    expect(found.traceparent).not.toBe(traceparent);
  });
});
