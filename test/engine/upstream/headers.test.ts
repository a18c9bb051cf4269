import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  forwardingHeaders,
  passthroughHeaders,
  requestHeaders,
  sharedIdentity,
  transparentHeaders,
} from '../../../src/engine/upstream/headers.ts';
import { arrivalOf } from './support/gateway.ts';

const client = [
  'Host: public.example',
  'Authorization: Basic own',
  'Cookie: JSESSIONID=1',
  'X-Auth-Token: t',
  'Range: bytes=0-1',
  'If-None-Match: "a"',
  'X-HTTP-Method-Override: DELETE',
  'Accept: text/html',
  'Content-Type: text/csv',
  'X-Forwarded-For: 10.0.0.1',
  'traceparent: theirs',
  'X-Request-Id: theirs',
  'Expect: 100-continue',
  'Connection: X-Hop',
  'X-Hop: 1',
  'Via: 1.0 other',
];
const raw = client.flatMap((field) => field.split(': '));
const headers = { host: 'public.example' };
const arrival = arrivalOf({ method: 'GET', url: '/a', headers, rawHeaders: raw } as unknown as IncomingMessage);

const ours = [
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Host', 'public.example'],
];
const traced = [
  ['X-Request-Id', 'request-1'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
];

describe('the headers of a documented request (docs/rules.md §2)', () => {
  it('are an allowlist: no header of the client is forwarded', () => {
    expect(requestHeaders('Basic chosen', forwardingHeaders(arrival))).toEqual([
      ['Authorization', 'Basic chosen'],
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['Accept-Encoding', 'gzip, deflate, br, zstd'],
      ...ours,
      ['Via', '1.1 portico'],
      ...traced,
    ]);
  });

  it('contain no credential for anonymous callers', () => {
    const names = requestHeaders(undefined, forwardingHeaders(arrival)).map(([name]) => name);
    expect(names).not.toContain('Authorization');
    expect(names).toContain('Content-Type');
  });

  it("include the caller's trace state", () => {
    const fields = requestHeaders(undefined, forwardingHeaders({ ...arrival, tracestate: 'a=b' }));
    expect(fields).toContainEqual(['tracestate', 'a=b']);
  });
});

describe('the headers of a request in observe mode (docs/rules.md §1)', () => {
  it("are the client’s end-to-end headers unchanged, and Portico's forwarding headers", () => {
    expect(transparentHeaders(arrival)).toEqual([
      ['Authorization', 'Basic own'],
      ['Cookie', 'JSESSIONID=1'],
      ['X-Auth-Token', 't'],
      ['Range', 'bytes=0-1'],
      ['If-None-Match', '"a"'],
      ['X-HTTP-Method-Override', 'DELETE'],
      ['Accept', 'text/html'],
      ['Content-Type', 'text/csv'],
      ...ours,
      ['Via', '1.0 other, 1.1 portico'],
      ...traced,
    ]);
  });
});

describe('the headers of a forwarded request', () => {
  const named = (...fields: string[]) => {
    const rawHeaders = fields.flatMap((field) => field.split(': '));
    const request = { method: 'GET', url: '/', headers: {}, rawHeaders } as unknown as IncomingMessage;
    return transparentHeaders(arrivalOf(request)).map(([name]) => name);
  };
  const own = named();

  // Long header names are not cached, but they must still be removed.
  it.each([`X-Forwarded-${'a'.repeat(60)}: 1`, `pRoXy-${'a'.repeat(60)}: 1`, 'KEEP-ALIVE: 5', 'hOsT: evil'])(
    'never contain %s, in any spelling and at any length',
    (field) => {
      expect(named(field, 'X-Own: 1')).toEqual(['X-Own', ...own]);
    },
  );

  it('contain no header that is named in any of several Connection headers', () => {
    const fields = ['Connection: close, X-D', 'X-A: 1', 'connection: x-a ,X-B', 'x-b: 1', 'X-C: 1', 'X-D: 1'];
    expect(named(...fields)).toEqual(['X-C', ...own]);
  });

  // The attack: without its length, the body of this request would be read as a second request, and without the
  // credential, the upstream would base its decision on a different caller than Portico did.
  it.each(['Content-Length: 5', 'content-type: text/csv', 'Authorization: Basic own', 'Cache-Control: no-cache'])(
    'contain %s even if a Connection header names it',
    (field) => {
      const [name = ''] = field.split(': ');
      expect(named(`Connection: ${name.toLowerCase()}, X-A`, field, 'X-A: 1')).toEqual([name, ...own]);
    },
  );
});

describe('the headers of a request for an undocumented path (docs/rules.md §2)', () => {
  const names = (choice: Parameters<typeof passthroughHeaders>[1]) =>
    passthroughHeaders(arrival, choice).map(([name, value]) => (name === 'Authorization' ? value : name));

  it('contain the chosen credential and no method override', () => {
    const found = names({ authorization: 'Basic chosen', identityCoding: false });
    expect(found).toContain('Basic chosen');
    expect(found).not.toContain('Basic own');
    expect(found).not.toContain('X-HTTP-Method-Override');
    expect(found).toContain('Range');
  });

  it('request the complete, uncompressed body if it is rewritten', () => {
    const found = passthroughHeaders(arrival, { authorization: undefined, identityCoding: true });
    expect(found).toContainEqual(['Accept-Encoding', 'identity']);
    expect(found.map(([name]) => name)).not.toContain('Range');
  });
});

describe('the ids of a request on behalf of several clients', () => {
  it('are new for each request, and valid in a traceparent header', () => {
    const identities = Array.from({ length: 100 }, sharedIdentity);
    for (const { requestId, traceparent } of identities)
      expect(traceparent).toMatch(new RegExp(`^00-${requestId.replaceAll('-', '')}-[0-9a-f]{16}-00$`));
    const spans = identities.map(({ traceparent }) => traceparent.slice(36, 52));
    expect(new Set(spans).size).toBe(100);
    // Every digit is random, because the id omits a UUID's version and variant digits, which are constant.
    for (let digit = 0; digit < 16; digit += 1)
      expect(new Set(spans.map((span) => span[digit])).size).toBeGreaterThan(4);
  });
});
