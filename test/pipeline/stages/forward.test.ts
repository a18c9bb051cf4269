import { once } from 'node:events';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HeaderPairs } from '../../../src/model/header-pairs.ts';
import { headerValue } from '../../../src/model/header-pairs.ts';
import { ANONYMOUS } from '../../../src/model/principal.ts';
import { UpstreamFailure } from '../../../src/model/upstream-failure.ts';
import { forward } from '../../../src/pipeline/stages/forward.ts';
import type { ExchangedAnswer, UpstreamRequest } from '../../../src/upstream/create-upstream.ts';
import {
  arrivalWith,
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  JSON_TYPE,
  type PlannedParts,
  plannedWith,
  stageIn,
} from '../../builders/exchange.ts';
import { fakeExchanges } from '../../builders/fake-exchanges.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const OK: ExchangedAnswer = { status: 200, headers: JSON_TYPE, body: Buffer.from('{}'), attempts: 2 };
const DENIED: ExchangedAnswer = { ...OK, status: 401, body: Buffer.from('{"error":"you have no permission"}') };

function forwarding(
  parts: PlannedParts = {},
  answer: (request: UpstreamRequest) => ExchangedAnswer | Promise<ExchangedAnswer> = () => OK,
  serviceAuthorization?: string,
) {
  const clock = createTestClock();
  const looked: Buffer[] = [];
  const { upstream, sent } = fakeExchanges(async (request) => {
    clock.advance(0.25);
    return answer(request);
  });
  const services = {
    upstream,
    serviceAuthorization,
    clock,
    isPermissionMessage: (message: string) => message.includes('permission'),
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
  return { send, sent, looked };
}

/** What the test answers compressed begins with a star. */
const decoded = (body: Buffer) => (body[0] === 42 ? body.subarray(1) : body);

const field = (request: UpstreamRequest | undefined, name: string) => headerValue(request?.headers ?? [], name);

describe('forward', () => {
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
