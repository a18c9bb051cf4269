import { createSessions } from '../../../../src/engine/upstream/sessions.ts';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { PublicOrigin } from '../../../../src/engine/model/arrival.ts';
import type { HeaderPairs } from '../../../../src/engine/model/header-pairs.ts';
import { headerValue } from '../../../../src/engine/model/header-pairs.ts';
import { ANONYMOUS } from '../../../../src/engine/model/principal.ts';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import { forward } from '../../../../src/engine/pipeline/stages/forward.ts';
import type { ExchangedResponse, UpstreamRequest } from '../../../../src/engine/upstream/create-upstream.ts';
import { queueClient } from '../../../../src/engine/upstream/stream-owner.ts';
import {
  arrivalWith,
  callerNamed,
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  JSON_TYPE,
  type PlannedParts,
  kept,
  plannedWith,
  stageIn,
} from '../../../builders/exchange.ts';
import { fakeExchanges } from '../../../builders/fake-exchanges.ts';
import { createTestClock } from '../../../builders/test-clock.ts';
import { bodyOf, openBody } from '../../../builders/streamed-body.ts';

const OK: ExchangedResponse = { status: 200, headers: JSON_TYPE, body: Buffer.from('{}'), attempts: 2 };
const DENIED: ExchangedResponse = { ...OK, status: 401, body: Buffer.from('{"error":"you have no permission"}') };

function forwarding(
  parts: PlannedParts = {},
  respond: (request: UpstreamRequest) => ExchangedResponse | Promise<ExchangedResponse> = () => OK,
  serviceAuthorization?: string,
  publicOrigin?: PublicOrigin,
) {
  const clock = createTestClock();
  const looked: Buffer[] = [];
  const demoted: string[] = [];
  const sessions = createSessions(['JSESSIONID'], clock);
  const { upstream, sent } = fakeExchanges(async (request) => {
    clock.advance(0.25);
    return respond(request);
  });
  const services = {
    upstream,
    sessions,
    serviceAuthorization,
    publicOrigin,
    guard: { demote: (id: string) => void demoted.push(id) },
    clock,
    isPermissionMessage: (message: string) => {
      if (message === 'break') throw new Error('unreadable');
      return message.includes('permission');
    },
    decode: (headers: HeaderPairs, body: Buffer) => {
      looked.push(body);
      return Promise.resolve(headerValue(headers, 'content-encoding') === 'x-odd' ? undefined : decoded(body));
    },
  };
  const handle = stageIn(forward(services), plannedWith(parts), createNext());
  const send = (more: ExchangeParts = {}) => {
    const exchange = exchangeWith(more);
    return { handled: handle(exchange), trace: exchange.trace };
  };
  return { send, sent, looked, demoted };
}

/** Decodes a body from the test upstream, which marks compressed bodies with a leading asterisk. */
const decoded = (body: Buffer) => (body[0] === 42 ? body.subarray(1) : body);

const responding = (text: string, headers = JSON_TYPE) => ({ ...OK, headers, body: Buffer.from(text) });

const field = (request: UpstreamRequest | undefined, name: string) => headerValue(request?.headers ?? [], name);

describe('forward', () => {
  // The attack: an upstream error makes the search for a permission message throw an error.
  it('forwards an error that it cannot read if everything is forwarded unchanged', async () => {
    const unreadable = { ...DENIED, body: Buffer.from('{"error":"break"}') };
    const { handled, trace } = forwarding({ transparent: true }, () => unreadable).send();
    expect(await handled).toMatchObject({ status: 401, body: unreadable.body });
    expect(trace).toMatchObject({ upstream: { status: 401, shape: 'other' }, cause: { message: 'unreadable' } });
    expect(await failureOf(forwarding({}, () => unreadable).send().handled)).toMatchObject({ message: 'unreadable' });
  });

  it("sends the canonical target with the operation's headers, and no client header that is not allowed", async () => {
    const { send, sent } = forwarding();
    const arrival = arrivalWith({
      method: 'HEAD',
      headers: { cookie: 'a=b', 'if-none-match': '"x"', range: 'bytes=0-1', 'x-http-method-override': 'DELETE' },
      rawHeaders: ['Cookie', 'a=b', 'If-None-Match', '"x"', 'Range', 'bytes=0-1', 'X-HTTP-Method-Override', 'DELETE'],
    });
    await send({ arrival, target: '/services/v2/thing.json?q=x' }).handled;
    expect(sent[0]).toMatchObject({ method: 'GET', target: '/services/v2/thing.json?q=x', mode: 'buffered' });
    for (const name of ['cookie', 'if-none-match', 'range', 'x-http-method-override'])
      expect(field(sent[0], name)).toBeUndefined();
    expect(field(sent[0], 'authorization')).toBe('Basic alice');
  });

  it('sends a body if a stage has read one', async () => {
    const { send, sent } = forwarding();
    const body = Buffer.from('{}');
    await send({ body }).handled;
    await send().handled;
    expect(sent[0]?.body).toBe(body);
    expect(field(sent[0], 'content-type')).toBe('application/json');
    expect(sent[1]).not.toHaveProperty('body');
  });

  it.each([false, true])(
    'waits as a verified caller or as a network, whether in observe mode (%s) or not',
    async (transparent) => {
      const { send, sent } = forwarding({ transparent });
      const arrival = arrivalWith({ clientAddress: '203.0.113.7' });
      await send({ arrival, principal: callerNamed('alice') }).handled;
      await send({ arrival, principal: { ...callerNamed('alice'), kind: 'unverified' } }).handled;
      await send({ arrival, principal: ANONYMOUS }).handled;
      const network = 'network 203.0.113.7';
      const clients = sent.map(({ owner }) => owner && queueClient(owner()));
      expect(clients).toEqual(['caller:verified:user:alice', network, network]);
    },
  );

  it('ends with the client if the exchange has a signal', async () => {
    const { send, sent } = forwarding();
    const { signal } = new AbortController();
    await send({ clientGone: () => signal }).handled;
    expect(sent[0]?.signal).toBe(signal);
  });

  it("returns the upstream's response and records it", async () => {
    const { send } = forwarding();
    const { handled, trace } = send();
    expect(await handled).toEqual({ status: 200, headers: OK.headers, body: OK.body });
    expect(trace).toMatchObject({
      route: 'plan',
      upstream: { status: 200, shape: 'answer', denied: false, seconds: 0.25, attempts: 2 },
    });
  });

  it('records how the transport failed', async () => {
    const { send } = forwarding({}, () => Promise.reject(new UpstreamFailure('deadline')));
    const { handled, trace } = send();
    expect(await failureOf(handled)).toBeInstanceOf(UpstreamFailure);
    expect(trace.upstream).toMatchObject({ status: undefined, shape: 'deadline', seconds: 0.25, attempts: 1 });
    expect(trace.incidents).toMatchObject([{ check: 'upstream', keyword: 'deadline' }]);
  });

  it("records nothing about the upstream for a failure of Portico's own", async () => {
    const { send } = forwarding({}, () => Promise.reject(new Error('unexpected')));
    const { handled, trace } = send();
    await failureOf(handled);
    expect(trace.upstream).toBeUndefined();
  });

  it('records the form of an error and that it denies permission', async () => {
    const { send } = forwarding({}, () => DENIED);
    const { handled, trace } = send();
    await handled;
    expect(trace.upstream).toMatchObject({ status: 401, shape: 'error', denied: true });
  });
});

/*
 * The attack: a client requests a page that will be stored, and sends a host, request id, trace or address of its
 * choice. If the upstream copies one of these values into the page, every later client can read it.
 */
describe('forward for an operation with stored responses', () => {
  const arrival = arrivalWith({
    host: 'evil.example',
    protocol: 'https',
    clientAddress: '198.51.100.66',
    requestId: 'evil-request',
    traceparent: '00-66666666666666666666666666666666-6666666666666666-01',
    tracestate: 'evil=1',
  });

  it('sends no value that the client chose', async () => {
    const { send, sent } = forwarding({ cache: kept() });
    await send({ arrival }).handled;
    expect(sent[0]?.headers.map(([name]) => name)).toEqual([
      'Authorization',
      'Accept',
      'Content-Type',
      'Accept-Encoding',
      'Via',
      'X-Request-Id',
      'traceparent',
    ]);
    expect(JSON.stringify(sent[0]?.headers)).not.toMatch(/evil|6666|198\.51|https/);
  });

  it('gives each exchange a new id, which the trace contains too', async () => {
    const { send, sent } = forwarding({ cache: kept() });
    const first = send({ arrival });
    await first.handled;
    await send({ arrival }).handled;
    const id = field(sent[0], 'x-request-id') ?? '';
    expect(first.trace.upstream?.requestId).toBe(id);
    expect(field(sent[0], 'traceparent')).toMatch(new RegExp(`^00-${id.replaceAll('-', '')}-[0-9a-f]{16}-00$`));
    expect(field(sent[1], 'x-request-id')).not.toBe(id);
  });

  it('records the id of a failed exchange in the trace too', async () => {
    const { send, sent } = forwarding({ cache: kept() }, () => Promise.reject(new UpstreamFailure('reset')));
    const { handled, trace } = send({ arrival });
    await failureOf(handled);
    expect(trace.upstream?.requestId).toBe(field(sent[0], 'x-request-id'));
  });

  it('sends the configured scheme and host', async () => {
    const origin = { protocol: 'http', host: 'qa.example' };
    const { send, sent } = forwarding({ cache: kept() }, undefined, undefined, origin);
    await send({ arrival }).handled;
    expect(field(sent[0], 'x-forwarded-proto')).toBe('http');
    expect(field(sent[0], 'x-forwarded-host')).toBe('qa.example');
  });

  it("sends the client's identifying headers if the response is not stored", async () => {
    const { send, sent } = forwarding();
    const { handled, trace } = send({ arrival });
    await handled;
    expect(field(sent[0], 'x-request-id')).toBe('evil-request');
    expect(field(sent[0], 'tracestate')).toBe('evil=1');
    expect(trace.upstream?.requestId).toBeUndefined();
  });
});

/*
 * The attack: the operator states that the upstream sends the same response to all callers, so pages are shared even
 * though they are fetched with a caller's own credential. If the upstream copies that credential into a page, every
 * later reader of the page receives it.
 */
describe("forward for a shared page fetched with a caller's credential", () => {
  const authorization = 'Basic YWxpY2U6Pz8/Pz8/';
  const principal = callerNamed('alice', { authorization });
  const shared = { principal, audience: 'public' };

  it.each([
    ['exactly as sent', responding(JSON.stringify({ body: authorization }))],
    ['without its scheme', responding('{"body":"YWxpY2U6Pz8/Pz8/"}')],
    ['with escaped slashes', responding(String.raw`{"body":"YWxpY2U6Pz8\/Pz8\/"}`)],
    ['in a header', responding('{}', [...JSON_TYPE, ['Link', '<YWxpY2U6Pz8/Pz8/>']])],
    ['in an error', { ...responding(`{"error":"not for ${authorization}"}`), status: 404 }],
  ])(
    'refuses a response that contains the credential %s, and stores the operation per caller',
    async (_case, response) => {
      const { send, demoted } = forwarding({ cache: kept({ audience: 'public' }) }, () => response);
      expect(await failureOf(send(shared).handled)).toMatchObject({ code: 'upstream_invalid_response' });
      expect(demoted).toEqual(['listThings']);
    },
  );

  it('returns such a response if only its own caller gets it', async () => {
    const { send, demoted } = forwarding({ cache: kept() }, () => responding(authorization));
    expect((await send({ principal }).handled).status).toBe(200);
    expect(demoted).toEqual([]);
  });

  it('does not search for the credential of a caller who sent none upstream', async () => {
    const parts = { cache: kept({ audience: 'public' }), serviceCredential: true };
    const { send } = forwarding(parts, () => responding(authorization), 'Basic service');
    expect((await send(shared).handled).status).toBe(200);
  });

  it('does not mistake a coincidental match for a credential', async () => {
    const { send } = forwarding({ cache: kept({ audience: 'public' }) }, () => responding('{"body":"YTpi"}'));
    const short = callerNamed('a', { authorization: 'Basic YTpi' });
    expect((await send({ ...shared, principal: short }).handled).status).toBe(200);
  });
});

describe('forward with a service account', () => {
  const service = { serviceCredential: true };

  it("uses it for responses declared to be the same for all callers, and the caller's own otherwise", async () => {
    const independent = forwarding(service, undefined, 'Basic service');
    await independent.send().handled;
    const dependent = forwarding({}, undefined, 'Basic service');
    await dependent.send().handled;
    expect(field(independent.sent[0], 'authorization')).toBe('Basic service');
    expect(field(dependent.sent[0], 'authorization')).toBe('Basic alice');
  });

  it("sends the caller's own credential if only the upstream can decide", async () => {
    const { send, sent } = forwarding(service, undefined, 'Basic service');
    await send({ delegated: true }).handled;
    expect(field(sent[0], 'authorization')).toBe('Basic alice');
  });

  it("refuses a caller without a credential before sending a request if the caller's own is needed", async () => {
    const { send, sent } = forwarding({}, undefined, 'Basic service');
    const { handled, trace } = send({ principal: ANONYMOUS });
    expect(await failureOf(handled)).toMatchObject({ code: 'needs_caller_credential', status: 501 });
    expect(sent).toEqual([]);
    expect(trace.route).toBeUndefined();
  });

  it('sends no credential for an anonymous caller if there is no service account', async () => {
    const { send, sent } = forwarding();
    await send({ principal: ANONYMOUS }).handled;
    expect(field(sent[0], 'authorization')).toBeUndefined();
  });
});

describe('forward in observe mode', () => {
  const observe = { transparent: true };

  it('sends the raw target, method and headers', async () => {
    const { send, sent } = forwarding(observe);
    const arrival = arrivalWith({
      method: 'HEAD',
      target: '/services/v2/thing.json?page=1&&',
      headers: { cookie: 'a=b' },
      rawHeaders: ['Cookie', 'a=b'],
    });
    await send({ arrival, target: '/elsewhere' }).handled;
    expect(sent[0]).toMatchObject({ method: 'HEAD', target: '/services/v2/thing.json?page=1&&', mode: 'transparent' });
    expect(field(sent[0], 'cookie')).toBe('a=b');
    expect(sent[0]).not.toHaveProperty('body');
  });

  it.each([
    [{ 'content-length': '3' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
    [{ 'content-length': '0' }, false],
    [{}, false],
  ])('streams the body of a request that has one: %o', async (headers, streams) => {
    const { send, sent } = forwarding(observe);
    const body = Readable.from([]);
    await send({ arrival: arrivalWith({ headers, body }) }).handled;
    expect(sent[0]?.body).toBe(streams ? body : undefined);
  });

  it('sends a body that was read for a check', async () => {
    const { send, sent } = forwarding(observe);
    const body = Buffer.from('{}');
    await send({ body, arrival: arrivalWith({ headers: { 'content-length': '2' } }) }).handled;
    expect(sent[0]?.body).toBe(body);
  });

  it('reads a compressed denial, and forwards it compressed', async () => {
    const body = Buffer.concat([Buffer.from('*'), Buffer.from('{"error":"you have no permission"}')]);
    const { send } = forwarding(observe, () => ({ ...DENIED, body }));
    const { handled, trace } = send();
    expect((await handled).body).toBe(body);
    expect(trace.upstream).toMatchObject({ shape: 'error', denied: true });
  });

  it('records the form of a body that it cannot read', async () => {
    const headers: HeaderPairs = [['Content-Encoding', 'x-odd']];
    const { send } = forwarding(observe, () => ({ ...DENIED, headers, body: gzipSync('{}') }));
    const { handled, trace } = send();
    await handled;
    expect(trace.upstream).toMatchObject({ status: 401, shape: 'other', denied: false });
  });

  it('reports a streamed body that breaks off, unless the client disconnected', async () => {
    for (const [failure, keywords] of [
      [new UpstreamFailure('truncated'), ['truncated']],
      [new UpstreamFailure('deadline'), ['deadline']],
      [new UpstreamFailure('aborted'), []],
    ] as const) {
      const { body } = openBody();
      const { handled, trace } = forwarding(observe, () => ({ ...OK, body })).send();
      await handled;
      body.destroy(failure);
      expect((trace.incidents ?? []).map(({ keyword }) => keyword)).toEqual(keywords);
      expect(trace.upstream?.shape).toBe(keywords[0] ?? 'answer');
    }
  });

  it('forwards a streaming body unread', async () => {
    const body = bodyOf('x');
    const { send, looked } = forwarding(observe, () => ({ ...DENIED, body }));
    expect((await send().handled).body).toBe(body);
    expect(looked).toEqual([]);
  });

  it('inspects only errors', async () => {
    const success = forwarding(observe);
    await success.send().handled;
    const error = forwarding(observe, () => ({ ...DENIED, status: 400 }));
    const { handled, trace } = error.send();
    await handled;
    expect([success.looked.length, error.looked.length]).toEqual([0, 1]);
    expect(trace.upstream?.shape).toBe('error');
  });

  it('ends with the client if the exchange has a signal', async () => {
    const { send, sent } = forwarding(observe);
    const { signal } = new AbortController();
    await send({ clientGone: () => signal }).handled;
    await send().handled;
    expect(sent.map((request) => request.signal)).toEqual([signal, undefined]);
  });
});
