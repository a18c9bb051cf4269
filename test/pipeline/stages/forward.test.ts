import { once } from 'node:events';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { PublicOrigin } from '../../../src/model/arrival.ts';
import type { HeaderPairs } from '../../../src/model/header-pairs.ts';
import { headerValue } from '../../../src/model/header-pairs.ts';
import { ANONYMOUS } from '../../../src/model/principal.ts';
import { UpstreamFailure } from '../../../src/model/upstream-failure.ts';
import { forward } from '../../../src/pipeline/stages/forward.ts';
import type { ExchangedResponse, UpstreamRequest } from '../../../src/upstream/create-upstream.ts';
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
} from '../../builders/exchange.ts';
import { fakeExchanges } from '../../builders/fake-exchanges.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const OK: ExchangedResponse = { status: 200, headers: JSON_TYPE, body: Buffer.from('{}'), attempts: 2 };
const DENIED: ExchangedResponse = { ...OK, status: 401, body: Buffer.from('{"error":"you have no permission"}') };

function forwarding(
  parts: PlannedParts = {},
  answer: (request: UpstreamRequest) => ExchangedResponse | Promise<ExchangedResponse> = () => OK,
  serviceAuthorization?: string,
  publicOrigin?: PublicOrigin,
) {
  const clock = createTestClock();
  const looked: Buffer[] = [];
  const demoted: string[] = [];
  const { upstream, sent } = fakeExchanges(async (request) => {
    clock.advance(0.25);
    return answer(request);
  });
  const services = {
    upstream,
    serviceAuthorization,
    publicOrigin,
    demote: (id: string) => void demoted.push(id),
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
    return { answer: handle(exchange), trace: exchange.trace };
  };
  return { send, sent, looked, demoted };
}

/** What the test answers compressed begins with a star. */
const decoded = (body: Buffer) => (body[0] === 42 ? body.subarray(1) : body);

const answering = (text: string, headers = JSON_TYPE) => ({ ...OK, headers, body: Buffer.from(text) });

const field = (request: UpstreamRequest | undefined, name: string) => headerValue(request?.headers ?? [], name);

describe('forward', () => {
  // The attack: an error of the upstream on which reading its message breaks.
  it('passes an error that it cannot read on where everything passes as it is', async () => {
    const unreadable = { ...DENIED, body: Buffer.from('{"error":"break"}') };
    const { answer, trace } = forwarding({ transparent: true }, () => unreadable).send();
    expect(await answer).toMatchObject({ status: 401, body: unreadable.body });
    expect(trace).toMatchObject({ upstream: { status: 401, shape: 'other' }, cause: { message: 'unreadable' } });
    expect(await failureOf(forwarding({}, () => unreadable).send().answer)).toMatchObject({ message: 'unreadable' });
  });

  it('sends the canonical target with what the operation is, and no field of the client that is not allowed', async () => {
    const { send, sent } = forwarding();
    const arrival = arrivalWith({
      method: 'HEAD',
      headers: { cookie: 'a=b', 'if-none-match': '"x"', range: 'bytes=0-1', 'x-http-method-override': 'DELETE' },
      rawHeaders: ['Cookie', 'a=b', 'If-None-Match', '"x"', 'Range', 'bytes=0-1', 'X-HTTP-Method-Override', 'DELETE'],
    });
    await send({ arrival, target: '/services/v2/thing.json?q=x' }).answer;
    expect(sent[0]).toMatchObject({ method: 'GET', target: '/services/v2/thing.json?q=x', mode: 'buffered' });
    for (const name of ['cookie', 'if-none-match', 'range', 'x-http-method-override'])
      expect(field(sent[0], name)).toBeUndefined();
    expect(field(sent[0], 'authorization')).toBe('Basic alice');
  });

  it('sends a body where a stage has read one', async () => {
    const { send, sent } = forwarding();
    const body = Buffer.from('{}');
    await send({ body }).answer;
    await send().answer;
    expect(sent[0]?.body).toBe(body);
    expect(field(sent[0], 'content-type')).toBe('application/json');
    expect(sent[1]).not.toHaveProperty('body');
  });

  it('ends with the client where a signal says so', async () => {
    const { send, sent } = forwarding();
    const { signal } = new AbortController();
    await send({ clientGone: () => signal }).answer;
    expect(sent[0]?.signal).toBe(signal);
  });

  it('answers what the upstream answered and notes it', async () => {
    const { send } = forwarding();
    const { answer, trace } = send();
    expect(await answer).toEqual({ status: 200, headers: OK.headers, body: OK.body });
    expect(trace).toMatchObject({
      route: 'plan',
      upstream: { status: 200, shape: 'answer', denied: false, seconds: 0.25, attempts: 2 },
    });
  });

  it('notes how the transport failed', async () => {
    const { send } = forwarding({}, () => Promise.reject(new UpstreamFailure('deadline')));
    const { answer, trace } = send();
    expect(await failureOf(answer)).toBeInstanceOf(UpstreamFailure);
    expect(trace.upstream).toEqual({ status: undefined, shape: 'deadline', seconds: 0.25, attempts: 1 });
    expect(trace.violations).toMatchObject([{ check: 'upstream', keyword: 'deadline' }]);
  });

  it('notes nothing of the upstream for a failure of our own', async () => {
    const { send } = forwarding({}, () => Promise.reject(new Error('unexpected')));
    const { answer, trace } = send();
    await failureOf(answer);
    expect(trace.upstream).toBeUndefined();
  });

  it('notes the shape of an error and that it denies permission', async () => {
    const { send } = forwarding({}, () => DENIED);
    const { answer, trace } = send();
    await answer;
    expect(trace.upstream).toMatchObject({ status: 401, shape: 'error', denied: true });
  });
});

/*
 * The attack: a client sends a host, a request id, a trace or an address of its own making to a page that is stored. An
 * upstream that copies one of them into the page makes of it what every later client reads.
 */
describe('forward of an operation whose responses are stored', () => {
  const arrival = arrivalWith({
    host: 'evil.example',
    protocol: 'https',
    clientAddress: '198.51.100.66',
    requestId: 'evil-request',
    traceparent: '00-66666666666666666666666666666666-6666666666666666-01',
    tracestate: 'evil=1',
  });

  it('sends nothing that the client chose', async () => {
    const { send, sent } = forwarding({ cache: kept() });
    await send({ arrival }).answer;
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

  it('names each exchange afresh, by one id that the trace holds too', async () => {
    const { send, sent } = forwarding({ cache: kept() });
    const first = send({ arrival });
    await first.answer;
    await send({ arrival }).answer;
    const id = field(sent[0], 'x-request-id') ?? '';
    expect(first.trace.upstream?.requestId).toBe(id);
    expect(field(sent[0], 'traceparent')).toMatch(new RegExp(`^00-${id.replaceAll('-', '')}-[0-9a-f]{16}-00$`));
    expect(field(sent[1], 'x-request-id')).not.toBe(id);
  });

  it('names a failed exchange in the trace too', async () => {
    const { send, sent } = forwarding({ cache: kept() }, () => Promise.reject(new UpstreamFailure('reset')));
    const { answer, trace } = send({ arrival });
    await failureOf(answer);
    expect(trace.upstream?.requestId).toBe(field(sent[0], 'x-request-id'));
  });

  it('sends the configured scheme and host', async () => {
    const origin = { protocol: 'http', host: 'qa.example' };
    const { send, sent } = forwarding({ cache: kept() }, undefined, undefined, origin);
    await send({ arrival }).answer;
    expect(field(sent[0], 'x-forwarded-proto')).toBe('http');
    expect(field(sent[0], 'x-forwarded-host')).toBe('qa.example');
  });

  it('sends what the client is known by where nothing is stored', async () => {
    const { send, sent } = forwarding();
    const { answer, trace } = send({ arrival });
    await answer;
    expect(field(sent[0], 'x-request-id')).toBe('evil-request');
    expect(field(sent[0], 'tracestate')).toBe('evil=1');
    expect(trace.upstream?.requestId).toBeUndefined();
  });
});

/*
 * The attack: pages are shared on the operator's word that the upstream answers everybody alike, and fetched with callers'
 * own credentials. An upstream that copies the credential into the page hands it to everybody who gets the page later.
 */
describe('forward of a shared page that is fetched with the credential of a caller', () => {
  const authorization = 'Basic YWxpY2U6Pz8/Pz8/';
  const principal = callerNamed('alice', { authorization });
  const shared = { principal, audience: 'public' };

  it.each([
    ['as it was sent', answering(JSON.stringify({ body: authorization }))],
    ['without its scheme', answering('{"body":"YWxpY2U6Pz8/Pz8/"}')],
    ['with escaped slashes', answering(String.raw`{"body":"YWxpY2U6Pz8\/Pz8\/"}`)],
    ['in a header', answering('{}', [...JSON_TYPE, ['Link', '<YWxpY2U6Pz8/Pz8/>']])],
    ['in an error', { ...answering(`{"error":"not for ${authorization}"}`), status: 404 }],
  ])('refuses a response that shows the credential %s, and stores the operation per caller', async (_case, answer) => {
    const { send, demoted } = forwarding({ cache: kept({ audience: 'public' }) }, () => answer);
    expect(await failureOf(send(shared).answer)).toMatchObject({ code: 'upstream_invalid_response' });
    expect(demoted).toEqual(['listThings']);
  });

  it('returns such a response where only its own caller gets it', async () => {
    const { send, demoted } = forwarding({ cache: kept() }, () => answering(authorization));
    expect((await send({ principal }).answer).status).toBe(200);
    expect(demoted).toEqual([]);
  });

  it('does not look for the credential of a caller who sent none upstream', async () => {
    const parts = { cache: kept({ audience: 'public' }), serviceCredential: true };
    const { send } = forwarding(parts, () => answering(authorization), 'Basic service');
    expect((await send(shared).answer).status).toBe(200);
  });

  it('does not take a chance find for a credential', async () => {
    const { send } = forwarding({ cache: kept({ audience: 'public' }) }, () => answering('{"body":"YTpi"}'));
    const short = callerNamed('a', { authorization: 'Basic YTpi' });
    expect((await send({ ...shared, principal: short }).answer).status).toBe(200);
  });
});

describe('forward with a service account', () => {
  const service = { serviceCredential: true };

  it("uses it where the contract says that answers do not depend on the caller, and the caller's own elsewhere", async () => {
    const independent = forwarding(service, undefined, 'Basic service');
    await independent.send().answer;
    const dependent = forwarding({}, undefined, 'Basic service');
    await dependent.send().answer;
    expect(field(independent.sent[0], 'authorization')).toBe('Basic service');
    expect(field(dependent.sent[0], 'authorization')).toBe('Basic alice');
  });

  it("sends the caller's own credential where only the upstream can decide", async () => {
    const { send, sent } = forwarding(service, undefined, 'Basic service');
    await send({ delegated: true }).answer;
    expect(field(sent[0], 'authorization')).toBe('Basic alice');
  });

  it('refuses a caller without a credential where the own one is needed, and never went upstream', async () => {
    const { send, sent } = forwarding({}, undefined, 'Basic service');
    const { answer, trace } = send({ principal: ANONYMOUS });
    expect(await failureOf(answer)).toMatchObject({ code: 'needs_caller_credential', status: 501 });
    expect(sent).toEqual([]);
    expect(trace.route).toBeUndefined();
  });

  it('sends no credential for an anonymous caller where there is no service account', async () => {
    const { send, sent } = forwarding();
    await send({ principal: ANONYMOUS }).answer;
    expect(field(sent[0], 'authorization')).toBeUndefined();
  });
});

describe('forward in observe', () => {
  const observe = { transparent: true };

  it('sends the raw target, method and fields', async () => {
    const { send, sent } = forwarding(observe);
    const arrival = arrivalWith({
      method: 'HEAD',
      target: '/services/v2/thing.json?page=1&&',
      headers: { cookie: 'a=b' },
      rawHeaders: ['Cookie', 'a=b'],
    });
    await send({ arrival, target: '/elsewhere' }).answer;
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
    await send({ arrival: arrivalWith({ headers, body }) }).answer;
    expect(sent[0]?.body).toBe(streams ? body : undefined);
  });

  it('sends a body that was read for a check', async () => {
    const { send, sent } = forwarding(observe);
    const body = Buffer.from('{}');
    await send({ body, arrival: arrivalWith({ headers: { 'content-length': '2' } }) }).answer;
    expect(sent[0]?.body).toBe(body);
  });

  it('reads a compressed denial, and answers it compressed', async () => {
    const body = Buffer.concat([Buffer.from('*'), Buffer.from('{"error":"you have no permission"}')]);
    const { send } = forwarding(observe, () => ({ ...DENIED, body }));
    const { answer, trace } = send();
    expect((await answer).body).toBe(body);
    expect(trace.upstream).toMatchObject({ shape: 'error', denied: true });
  });

  it('notes the shape of a body that it cannot read', async () => {
    const headers: HeaderPairs = [['Content-Encoding', 'x-odd']];
    const { send } = forwarding(observe, () => ({ ...DENIED, headers, body: gzipSync('{}') }));
    const { answer, trace } = send();
    await answer;
    expect(trace.upstream).toMatchObject({ status: 401, shape: 'other', denied: false });
  });

  it('tells of a streamed body that breaks off, and not of one that the client left', async () => {
    for (const [error, told] of [
      [new Error('gone'), ['truncated']],
      [new UpstreamFailure('deadline'), ['deadline']],
      [new UpstreamFailure('aborted'), []],
    ] as const) {
      const body = new Readable({ read: () => undefined });
      const { answer, trace } = forwarding(observe, () => ({ ...OK, body })).send();
      await answer;
      const ended = once(body, 'close').catch(() => undefined);
      body.destroy(error);
      await ended;
      expect(trace.violations.map(({ keyword }) => keyword)).toEqual(told);
      expect(trace.upstream?.shape).toBe(told[0] ?? 'answer');
    }
  });

  it('passes a body on that still streams, without a look into it', async () => {
    const body = Readable.from(['x']);
    const { send, looked } = forwarding(observe, () => ({ ...DENIED, body }));
    expect((await send().answer).body).toBe(body);
    expect(looked).toEqual([]);
  });

  it('looks into errors alone', async () => {
    const success = forwarding(observe);
    await success.send().answer;
    const error = forwarding(observe, () => ({ ...DENIED, status: 400 }));
    const { answer, trace } = error.send();
    await answer;
    expect([success.looked.length, error.looked.length]).toEqual([0, 1]);
    expect(trace.upstream?.shape).toBe('error');
  });

  it('ends with the client where a signal says so', async () => {
    const { send, sent } = forwarding(observe);
    const { signal } = new AbortController();
    await send({ clientGone: () => signal }).answer;
    await send().answer;
    expect(sent.map((request) => request.signal)).toEqual([signal, undefined]);
  });
});
