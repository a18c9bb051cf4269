import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  addEdgeHeaders,
  contractStatus,
  type EdgeHeaderOptions,
  writeReply,
  type WriteReplyOptions,
} from '../../../src/engine/http/write-reply.ts';
import type { StreamedBody } from '../../../src/engine/model/streamed-body.ts';
import type { SkipReason, Trace } from '../../../src/engine/model/trace.ts';
import type { Violation } from '../../../src/engine/model/violation.ts';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import type { Plan } from '../../../src/engine/pipeline/plan.ts';
import type { Reply } from '../../../src/engine/pipeline/reply.ts';
import { callAt, type Call } from '../../builders/call.ts';
import {
  createNext,
  JSON_TYPE,
  kept,
  type PlannedParts,
  plannedWith,
  traceWith,
  violationWith,
} from '../../builders/exchange.ts';
import { bodyOf, endOf, openBody } from '../../builders/streamed-body.ts';
import { until } from '../../builders/until.ts';
import { serve, talk } from './serve.ts';

const page: Reply = { status: 200, headers: JSON_TYPE, body: Buffer.from('{"a":1}'), etag: '"tag"', storedAs: 'k' };
const planWith = (planned: PlannedParts = { cache: kept() }): Plan => ({
  ...plannedWith(planned),
  stages: [],
  handle: createNext().handle,
});
const OPTIONS: WriteReplyOptions = {
  contractStatusHeader: true,
  reportIdOf: () => 'a1',
  isAccepted: () => false,
  coded: () => undefined,
  clientTimeoutMs: 60_000,
};
const GET = { method: 'GET', ifNoneMatch: undefined, acceptEncoding: undefined };

interface Context {
  readonly planned?: PlannedParts;
  /** The gzip form of the page. */
  readonly gzip?: Buffer | undefined;
}

/**
 * Writes a plan's reply. Returns the response that the client received, the number of bytes counted, and the pages
 * whose gzip form was requested.
 */
async function written(reply: Reply, { planned, gzip }: Context = {}, call: Call = {}) {
  const bytes: (number | Promise<number>)[] = [];
  const asked: unknown[] = [];
  const options: WriteReplyOptions = {
    ...OPTIONS,
    coded: (key, body, [coding = 'gzip']) => {
      asked.push([key, body]);
      return body === page.body && gzip !== undefined ? { coding, bytes: gzip } : undefined;
    },
  };
  const { url } = await serve(({ method = '', headers }, response) => {
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': encoding } = headers;
    const to = { method, ifNoneMatch, acceptEncoding: encoding?.toString() };
    bytes.push(writeReply(response, planWith(planned), reply, to, traceWith(), options));
  });
  const received = await callAt(url, '/', call);
  return { received, asked, bytes: await bytes[0], atOnce: typeof bytes[0] === 'number' };
}

describe('a reply', () => {
  it('is sent with its headers, the edge headers, its length and its entity tag', async () => {
    const { received, bytes } = await written(page);
    expect([received.status, received.text, bytes]).toEqual([200, '{"a":1}', 7]);
    expect(received.headers).toMatchObject({
      'content-type': 'application/json;charset=UTF-8',
      'content-length': '7',
      etag: '"tag"',
      via: '1.1 portico',
    });
  });

  it('preserves repeated headers', async () => {
    const headers: Reply['headers'] = [
      ['Link', '<a>'],
      ['Link', '<b>'],
    ];
    expect((await written({ ...page, headers })).received.rawHeaders.filter((text) => text.startsWith('<'))).toEqual([
      '<a>',
      '<b>',
    ]);
  });

  it('has the length that the upstream declared', async () => {
    const { received } = await written({ ...page, headers: [['content-length', '7']] });
    expect(received.rawHeaders.filter((name) => name.toLowerCase() === 'content-length')).toHaveLength(1);
  });

  it('has the same headers and no body for HEAD', async () => {
    const get = await written(page);
    const head = await written(page, {}, { method: 'HEAD' });
    expect(head.received.headers).toMatchObject({ 'content-length': '7', etag: '"tag"' });
    expect(head.received.rawHeaders.length).toBe(get.received.rawHeaders.length);
    expect([head.received.text, head.bytes]).toEqual(['', 0]);
  });

  it('has no length for HEAD if the length is unknown', async () => {
    const { received } = await written({ status: 200, headers: [], body: Buffer.alloc(0) }, {}, { method: 'HEAD' });
    expect(received.headers['content-length']).toBeUndefined();
    expect(
      (await written({ status: 200, headers: [], body: Buffer.alloc(0) })).received.headers['content-length'],
    ).toBe('0');
  });

  it.each([204, 304])('has neither body nor length with status %i', async (status) => {
    const { received, bytes } = await written({ status, headers: [], body: Buffer.from('x') });
    expect([received.status, received.text, received.headers['content-length'], bytes]).toEqual([
      status,
      '',
      undefined,
      0,
    ]);
  });
});

describe('the bytes of a reply', () => {
  it.each([
    ['whole', page, {}, 7],
    ['for HEAD', page, { method: 'HEAD' }, 0],
    ['a 304', page, { headers: { 'If-None-Match': '"tag"' } }, 0],
    ['a stream for HEAD', { ...page, body: bodyOf() }, { method: 'HEAD' }, 0],
  ] satisfies [string, Reply, Call, number][])('are known immediately for %s', async (_what, reply, call, expected) => {
    expect(await written(reply, {}, call)).toMatchObject({ bytes: expected, atOnce: true });
  });
});

describe('a reply that its plan does not store', () => {
  const headers: Reply['headers'] = [
    ...JSON_TYPE,
    ['ETag', '"theirs"'],
    ['Set-Cookie', 'a=b'],
    ['Cache-Control', 'public'],
    ['X-Request-Id', 'theirs'],
  ];

  it("forbids storing and shows none of the upstream's own response headers", async () => {
    const { received } = await written({ status: 200, headers, body: page.body }, { planned: {} });
    expect(received.headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-request-id': 'request-1' });
    for (const name of ['set-cookie', 'etag']) expect(received.headers).not.toHaveProperty(name);
  });

  it('is left unchanged in observe mode, even for conditional requests', async () => {
    const call = { headers: { 'If-None-Match': '"theirs"' } };
    const observed = { planned: { transparent: true } };
    const { received } = await written({ status: 200, headers, body: page.body, etag: '"theirs"' }, observed, call);
    expect(received.status).toBe(200);
    expect(received.headers).toMatchObject({
      'set-cookie': ['a=b'],
      'cache-control': 'public',
      'x-request-id': 'theirs',
    });
  });
});

// The attack: a user of the upstream puts HTML into a response that is sent as plain text or without a type. A
// browser that guesses the type runs the HTML in the gateway's origin.
describe('content sniffing of a reply', () => {
  const sent = async (status: number, headers: Reply['headers']) =>
    (await written({ status, headers, body: Buffer.from('<p>') })).received.rawHeaders.filter(
      (text) => text === 'nosniff',
    );

  it.each([
    ['JSON', 200, [['Content-Type', 'application/json; charset=utf-8']], 0],
    ['a problem', 400, [['content-type', 'application/problem+json']], 0],
    ['text', 200, [['Content-Type', 'text/plain']], 1],
    ['a type that starts like JSON', 200, [['Content-Type', 'application/jsonp']], 1],
    ['a body without a type', 200, [], 1],
    ['a reply that forbids it already', 200, [['X-Content-Type-Options', 'nosniff']], 1],
    ['a reply without a body', 204, [], 0],
  ] satisfies [string, number, Reply['headers'], number][])(
    'is forbidden if necessary: %s',
    async (_what, status, headers, times) => {
      expect(await sent(status, headers)).toHaveLength(times);
    },
  );
});

describe('a conditional request', () => {
  const headers = { 'If-None-Match': '"other", "tag"' };

  it('gets 304 without content headers', async () => {
    const reply = { ...page, headers: [...JSON_TYPE, ['Content-Location', '/a'], ['Age', '3']] as Reply['headers'] };
    const { received, bytes } = await written(reply, {}, { headers });
    expect([received.status, received.text, bytes]).toEqual([304, '', 0]);
    expect(received.headers).toMatchObject({ etag: '"tag"', age: '3', 'content-location': '/a', via: '1.1 portico' });
    expect(received.headers['content-type']).toBeUndefined();
    expect(received.headers['content-length']).toBeUndefined();
  });

  it('gets 304 for HEAD too', async () => {
    expect((await written(page, {}, { method: 'HEAD', headers })).received.status).toBe(304);
  });

  it('gets the full response if the tag differs or is missing', async () => {
    expect((await written({ ...page, etag: '"new"' }, {}, { headers })).received.status).toBe(200);
    const { etag: _etag, ...untagged } = page;
    const received = (await written(untagged, {}, { headers })).received;
    expect([received.status, received.headers.etag]).toEqual([200, undefined]);
  });
});

describe('a reply with a gzip form', () => {
  const gzip = gzipSync(page.body as Buffer);
  const accepting = (headers: Readonly<Record<string, string>> = {}, method = 'GET') => ({
    method,
    headers: { 'Accept-Encoding': 'br, gzip', ...headers },
  });

  it("is sent in that form, with its own length and tag, under the page's key", async () => {
    const { received, bytes, asked } = await written(page, { gzip }, accepting());
    expect(gunzipSync(received.bytes).toString()).toBe('{"a":1}');
    expect(bytes).toBe(gzip.length);
    expect(asked).toEqual([['k', page.body]]);
    expect(received.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(gzip.length),
      'content-type': 'application/json;charset=UTF-8',
      etag: '"tag-gzip"',
    });
  });

  it.each([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0.5, gzip', 'gzip'],
  ])('is sent to a client that accepts %s in the coding %s, with the tag of that coding', async (accepted, coding) => {
    const { received } = await written(page, { gzip }, { headers: { 'Accept-Encoding': accepted } });
    expect(received.headers).toMatchObject({ 'content-encoding': coding, etag: `"tag-${coding}"` });
    const condition = { 'Accept-Encoding': accepted, 'If-None-Match': '"tag-zstd"' };
    const again = await written(page, { gzip }, { headers: condition });
    expect([again.received.status, again.received.headers.etag]).toEqual([304, '"tag-zstd"']);
  });

  it('is sent to HEAD without that form', async () => {
    const get = await written(page, { gzip }, accepting());
    const head = await written(page, { gzip }, accepting({}, 'HEAD'));
    expect([head.received.text, head.bytes]).toEqual(['', 0]);
    const { date: _date, ...fields } = head.received.headers;
    expect(get.received.headers).toMatchObject(fields);
    expect(fields['content-encoding']).toBe('gzip');
  });

  it.each([
    ['"tag-gzip"', '"tag-gzip"'],
    ['"tag"', '"tag"'],
    ['W/"tag"', '"tag"'],
    ['"other", "tag-gzip"', '"tag-gzip"'],
    ['"tag", "tag-gzip"', '"tag-gzip"'],
    ['*', '"tag-gzip"'],
  ])('becomes a 304 for a client that has %s, with the tag of its form', async (condition, etag) => {
    const headers = { 'If-None-Match': condition };
    const { received, bytes } = await written(page, { gzip }, accepting(headers));
    expect([received.status, received.headers.etag, received.text, bytes]).toEqual([304, etag, '', 0]);
    expect(received.headers).not.toHaveProperty('content-encoding');
    expect(received.headers).not.toHaveProperty('content-length');
  });

  it.each([
    ['"tag"', '"tag"'],
    ['"tag-gzip"', '"tag-gzip"'],
    ['"tag", "tag-gzip"', '"tag"'],
    ['*', '"tag"'],
  ])('becomes a 304 for a client that has %s but no longer accepts the form', async (condition, etag) => {
    const { received } = await written(page, {}, { headers: { 'If-None-Match': condition } });
    expect([received.status, received.headers.etag]).toEqual([304, etag]);
  });

  it('is sent in full if the client has neither form', async () => {
    for (const condition of ['"tag-br"', '"tag-gzip-gzip"', 'tag', '""'])
      for (const form of [gzip, undefined]) {
        const { received } = await written(page, { gzip: form }, accepting({ 'If-None-Match': condition }));
        expect(received.status).toBe(200);
      }
  });

  it.each([
    ['does not accept it', {}],
    ['refuses it', { 'Accept-Encoding': 'gzip;q=0' }],
  ])('is not compressed for a client that %s', async (_who, headers) => {
    const { received, asked } = await written(page, { gzip }, { headers });
    expect(asked).toEqual([]);
    expect(received.text).toBe('{"a":1}');
  });

  it('is not compressed if the response is not stored', async () => {
    const { storedAs: _key, ...fetched } = page;
    const { received, asked } = await written(fetched, { gzip }, accepting());
    expect(asked).toEqual([]);
    expect(received.headers).not.toHaveProperty('content-encoding');
  });

  it('is not sent in place of another body under the same key', async () => {
    const other = Buffer.from('{"less":1}');
    const { received } = await written({ ...page, body: other }, { gzip }, accepting());
    expect(received.text).toBe('{"less":1}');
    expect(received.headers).not.toHaveProperty('content-encoding');
  });
});

describe('a streamed reply', () => {
  /** Sends a body to one client. */
  const serveBody = async (body: StreamedBody, options = OPTIONS) => {
    const trace = traceWith();
    const responses: ServerResponse[] = [];
    const { port } = await serve((_request, response) => {
      responses.push(response);
      void writeReply(response, planWith(), { status: 200, headers: [], body }, GET, trace, options);
    });
    return { trace, responses, ...talk(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n') };
  };

  it('is sent as it arrives and counted', async () => {
    const { body } = openBody('abc');
    setImmediate(() => {
      body.push(Buffer.from('de'));
      body.finish();
    });
    const { received, bytes } = await written({ status: 200, headers: [], body });
    expect([received.text, received.complete, bytes]).toEqual(['abcde', true, 5]);
  });

  it('is sent at once if it is complete', async () => {
    const reply: Reply = { status: 200, headers: [], body: bodyOf('abc', 'de') };
    const { received, bytes, atOnce } = await written(reply);
    expect([received.text, received.complete, bytes, atOnce]).toEqual(['abcde', true, 5, true]);
  });

  it("breaks the client's connection if it breaks, after sending everything received", async () => {
    const { body } = openBody('abc');
    body.finish(new UpstreamFailure('truncated'));
    const { received, bytes } = await written({ status: 200, headers: [['Content-Length', '9']], body });
    expect([received.status, received.text, received.complete, bytes]).toEqual([200, 'abc', false, 3]);
  });

  it('is sent as far as it arrived if it breaks, even to a client slower than the upstream', async () => {
    const part = 'x'.repeat(8_000_000);
    const { body } = openBody(part, part);
    body.finish(new UpstreamFailure('truncated'));
    const { received } = await written({ status: 200, headers: [], body });
    expect([received.bytes.length, received.complete]).toEqual([2 * part.length, false]);
  });

  it('is not sent for HEAD, and leaves nothing open', async () => {
    const body = bodyOf('abc');
    const reply: Reply = { status: 203, headers: [['Content-Length', '99']], body };
    const { received, bytes } = await written(reply, {}, { method: 'HEAD' });
    expect([received.status, received.headers['content-length'], bytes]).toEqual([203, '99', 0]);
    expect(await endOf(body)).toBeUndefined();
  });

  // A client that receives half of a body followed by a normal end mistakes that half for the whole body.
  it("breaks the client's connection if it is destroyed", async () => {
    const { body } = openBody('abc');
    body.onPart(() => setImmediate(() => body.destroy()));
    const { received, bytes } = await written({ status: 200, headers: [], body });
    expect([received.status, received.text, received.complete, bytes]).toEqual([200, 'abc', false, 3]);
  });

  it("breaks the client's connection if it is broken before it can be read", async () => {
    const { body } = openBody();
    body.destroy(new UpstreamFailure('truncated'));
    const { heard } = await serveBody(body);
    expect(await heard).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  // A client that requests large responses without reading them must neither exhaust memory nor keep the upstream
  // waiting forever.
  it('is read no faster than the client reads, and abandoned after too long a pause', async () => {
    const { body, source } = openBody();
    const part = Buffer.alloc(65_536);
    // Without a limit, this test would fill memory instead of failing.
    let left = 1000;
    const fill = () => {
      for (; !source.isPaused && source.aborted === undefined && left > 0; left -= 1) body.push(part);
    };
    source.onResume = () => setImmediate(fill);
    const { socket, trace } = await serveBody(body, { ...OPTIONS, clientTimeoutMs: 60 });
    socket.pause();
    fill();
    expect(await endOf(body)).toMatchObject({ kind: 'aborted' });
    expect(trace.bytes).toBeLessThan(15_000_000);
    socket.destroy();
  });

  it('is abandoned if the client does not read the end of a complete one', async () => {
    const body = bodyOf('x'.repeat(15_000_000));
    const { socket, responses } = await serveBody(body, { ...OPTIONS, clientTimeoutMs: 60 });
    socket.pause();
    await until(() => responses[0]?.destroyed === true);
    expect([responses[0]?.writableEnded, responses[0]?.writableFinished]).toEqual([true, false]);
    socket.destroy();
  });

  it('is abandoned when the client disconnects', async () => {
    const { body, source } = openBody('abc');
    const { socket } = await serveBody(body);
    await once(socket, 'data');
    socket.destroy();
    expect(await endOf(body)).toMatchObject({ kind: 'aborted' });
    expect(source.aborted).toBeDefined();
  });

  it('is abandoned if the client has already disconnected', async () => {
    const { body, source } = openBody();
    const gone = Promise.withResolvers<number>();
    const { port } = await serve((_request, response) => {
      response.once('close', () => {
        gone.resolve(writeReply(response, planWith(), { status: 200, headers: [], body }, GET, traceWith(), OPTIONS));
      });
      socket.destroy();
    });
    const { socket } = talk(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await gone.promise).toBe(0);
    expect(source.aborted).toMatchObject({ kind: 'aborted' });
  });
});

describe('the edge headers', () => {
  const options = { contractStatusHeader: true, reportIdOf: () => 'a1', isAccepted: () => false };
  const edgeHeaders = (trace: Trace, given: EdgeHeaderOptions, present: readonly string[] = []) => {
    const headers = [...present];
    addEdgeHeaders(headers, trace, given);
    return headers.slice(present.length);
  };
  const names = (...given: Parameters<typeof edgeHeaders>) => edgeHeaders(...given).filter((_, at) => at % 2 === 0);
  const checked = traceWith({ responses: { level: 'report', outcome: 'passed', verdict: 'valid' } });

  it('name the gateway and the request', () => {
    expect(edgeHeaders(traceWith(), options)).toEqual(['Via', '1.1 portico', 'X-Request-Id', 'request-1']);
  });

  it('keep a request id that the response already has', () => {
    expect(names(traceWith(), options, ['x-request-id', 'theirs'])).toEqual(['Via']);
  });

  it('report the contract verdict if the exchange was checked and the verdict may be shown', () => {
    expect(names(checked, options)).toContain('Contract-Status');
    expect(names(Object.assign(traceWith(), { violations: [violationWith()] }), options)).toContain('Contract-Status');
    expect(names(traceWith(), options)).not.toContain('Contract-Status');
    expect(names(checked, { ...options, contractStatusHeader: false })).not.toContain('Contract-Status');
  });

  // The attack: a message causes a violation whose report id cannot be computed. The resulting error used to turn the
  // finished response into a 500.
  it('leave out a verdict that cannot be written', () => {
    const trace = traceWith({ violations: [violationWith()] });
    const mistake = new RangeError('Maximum call stack size exceeded');
    const reportIdOf = () => {
      throw mistake;
    };
    expect(names(trace, { ...options, reportIdOf })).toEqual(['Via', 'X-Request-Id']);
    expect(trace.cause).toBe(mistake);
  });
});

const violation = (category: Violation['category']) => ({ category }) as Violation;

const status = {
  reportIdOf: (_trace: unknown, { category }: Violation) => `id-of-${category}`,
  isAccepted: (_trace: unknown, { keyword }: Violation) => keyword === 'accepted',
};

describe('Contract-Status', () => {
  it('reports that no violation was found', () => {
    expect(contractStatus({ violations: [] }, status)).toBe('conforming');
  });

  it('counts violations and names the worst category', () => {
    const violations = [violation('semantic'), violation('missing'), violation('type')];
    expect(contractStatus({ violations }, status)).toBe('violations; count=3; worst=missing; report=id-of-missing');
  });

  it('names a violation that breaks the response rather than an advisory', () => {
    const advisory = { category: 'undocumented', keyword: 'undocumented-field' } as Violation;
    const violations = [advisory, violation('semantic'), violation('protocol')];
    expect(contractStatus({ violations }, status)).toContain('worst=protocol');
    expect(contractStatus({ violations: [advisory, violation('permission-mismatch')] }, status)).toContain(
      'worst=permission-mismatch',
    );
  });

  it('names an accepted violation only if there are no others', () => {
    const accepted = { category: 'protocol', keyword: 'accepted' } as Violation;
    expect(contractStatus({ violations: [accepted, violation('type')] }, status)).toBe(
      'violations; count=1; worst=type; report=id-of-type; accepted=1',
    );
    expect(contractStatus({ violations: [accepted, accepted] }, status)).toBe(
      'accepted; count=2; worst=protocol; report=id-of-protocol',
    );
  });

  it('reports that a check threw', () => {
    const responses = { level: 'report', outcome: 'failed', verdict: 'skipped', reason: 'error' } as const;
    expect(contractStatus({ violations: [], responses }, status)).toBe('conforming; skipped=error');
  });

  it('states why a response was not checked', () => {
    const responses = { level: 'report', outcome: 'skipped', verdict: 'skipped' } as const;
    const because = (reason: SkipReason) =>
      contractStatus({ violations: [], responses: { ...responses, reason } }, status);
    expect(because('size')).toBe('conforming; skipped=size');
    expect(because('truncated')).toBe('incomplete; skipped=truncated');
  });
});
