import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import type { ArrivalOptions } from '../../../src/engine/http/arrival.ts';
import {
  clientGone,
  createPublicHandler,
  createTraceRecorder,
  type PublicServices,
  recordAtClose,
  recordAtEnd,
} from '../../../src/engine/http/public-handler.ts';
import type { AuthenticationResult } from '../../../src/engine/identity/create-authenticator.ts';
import type { HeaderPairs } from '../../../src/engine/model/header-pairs.ts';
import { createTrace, type Trace } from '../../../src/engine/model/trace.ts';
import type { Exchange } from '../../../src/engine/pipeline/exchange.ts';
import type { Reply } from '../../../src/engine/pipeline/reply.ts';
import type { Handler } from '../../../src/engine/pipeline/stage.ts';
import { type Call, callAt } from '../../builders/call.ts';
import {
  callerNamed,
  exchangeWith,
  JSON_TYPE,
  kept,
  pageOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  traceWith,
} from '../../builders/exchange.ts';
import { expectError } from '../../builders/expect-error.ts';
import { type FakeGatewayParts, gatewayWith } from '../../builders/fake-gateway.ts';
import { until } from '../../builders/until.ts';
import { serve, talk } from './serve.ts';
import { bodyOf } from '../../builders/streamed-body.ts';

describe('createPublicHandler', () => {
  const THINGS = '/services/v2/thing.json';
  const RAW = `${THINGS}?page=1&q=x`;
  /** A page from the cache. */
  const page: Reply = { status: 200, headers: JSON_TYPE, body: Buffer.from('{"a":1}'), etag: '"tag"', storedAs: 'k' };
  const VERIFIED: AuthenticationResult = {
    principal: callerNamed('alice'),
    trace: { level: 'enforce', outcome: 'passed', principal: 'verified' },
  };
  const fails = (): never => {
    throw new GatewayError('permission_denied', 'no');
  };

  /** Reads an arrival's members. Most of them are computed on first use. */
  function partsOf(exchange: Exchange | undefined) {
    if (exchange === undefined) throw new Error('no exchange');
    const { method, target, path, query, headers, clientAddress, protocol } = exchange.arrival;
    return { method, target, path, query, headers, clientAddress, protocol };
  }

  interface Parts extends FakeGatewayParts {
    readonly arrival?: Partial<ArrivalOptions>;
    readonly services?: Partial<PublicServices>;
  }

  /**
   * Starts the public side of a gateway. Also returns the traces that it records, and the queries whose parameters it
   * decoded.
   */
  async function published({ arrival, services, ...parts }: Parts = {}) {
    const recorded: Trace[] = [];
    const decoded: unknown[] = [];
    const contract = {
      ...gatewayWith(parts).gateway.contract,
      decodeParameters: (...given: readonly unknown[]) => {
        decoded.push(given[2]);
        return { values: exchangeWith().values(), violations: [], reported: [] };
      },
    };
    const made = gatewayWith({ contract, ...parts });
    let now = 1_000;
    const handler = createPublicHandler({
      gateway: made.gateway,
      arrival: {
        maxTargetBytes: 1000,
        publicBasePath: '',
        publicOrigin: undefined,
        trustedProxies: [],
        clock: () => (now += 500),
        ...arrival,
      },
      errorsFor: () => 'normalized',
      documentedForm: () => undefined,
      contractStatusHeader: true,
      proxyStatusHeader: true,
      reportIdOf: () => 'a1',
      isAccepted: () => false,
      coded: () => undefined,
      clientTimeoutMs: 60_000,
      record: (trace) => recorded.push(structuredClone({ ...trace, cause: String(trace.cause) })),
      clock: () => (now += 500),
      ...services,
    });
    const { url, port } = await serve(handler.handle);
    const call = (target: string, given?: Call) => callAt(url, target, given);
    return { ...made, recorded, decoded, port, call };
  }

  /** Starts the public side with a plan that calls the handler. Also returns the exchanges that the plan received. */
  async function handled(handle: Handler, parts: Parts = {}, planned: PlannedParts = { cache: kept() }) {
    const exchanges: Exchange[] = [];
    const counting: Handler = (exchange) => {
      exchanges.push(exchange);
      return handle(exchange);
    };
    return { exchanges, ...(await published({ plan: { ...plannedWith(planned), handle: counting }, ...parts })) };
  }

  describe('the public side', () => {
    it('replies to a documented request and records it once, completely', async () => {
      const { call, recorded, next } = await published();
      const received = await call(`${THINGS}?q=x`, { headers: { 'X-Request-Id': 'mine' } });
      expect([received.status, received.json]).toEqual([200, pageOf([1])]);
      expect(received.headers).toMatchObject({ via: '1.1 portico', 'x-request-id': 'mine' });
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([
        {
          requestId: 'mine',
          method: 'GET',
          operation: 'listThings',
          target: `${THINGS}?q=x`,
          caller: 'alice',
          status: 200,
          bytes: received.bytes.length,
          seconds: 0.5,
        },
      ]);
      expect(partsOf(next.asked[0])).toMatchObject({
        target: `${THINGS}?q=x`,
        query: 'q=x',
        clientAddress: '127.0.0.1',
      });
    });

    it('does the same for a synchronous reply', async () => {
      const { call, recorded } = await handled(() => page, { authenticate: () => VERIFIED });
      const received = await call(RAW);
      expect([received.status, received.text, received.headers.etag]).toEqual([200, '{"a":1}', '"tag"']);
      await until(() => recorded.length > 0);
      expect(recorded).toMatchObject([{ status: 200, bytes: received.bytes.length, seconds: 0.5, caller: 'alice' }]);
      await call(RAW, { headers: { 'If-None-Match': '"tag"' } });
      await until(() => recorded.length > 1);
      expect(recorded.slice(1)).toMatchObject([{ status: 304, bytes: 0 }]);
      expect(recorded).toHaveLength(2);
    });

    it('counts a streamed reply when it has ended', async () => {
      const { call, recorded } = await handled(() => ({
        status: 200,
        headers: [],
        body: bodyOf('abc', 'de'),
      }));
      expect((await call(RAW)).text).toBe('abcde');
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([{ status: 200, bytes: 5 }]);
    });

    it('forbids storing a response that Portico does not store, and hides upstream-specific headers', async () => {
      const headers = [
        ...JSON_TYPE,
        ['ETag', '"theirs"'],
        ['Cache-Control', 'public'],
        ['X-Request-Id', 'theirs'],
      ] as const;
      const { call } = await handled(() => replyWith({}, { headers }), {}, {});
      const received = await call(THINGS, { headers: { 'X-Request-Id': 'mine', 'If-None-Match': '"theirs"' } });
      expect(received.status).toBe(200);
      expect(received.headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-request-id': 'mine' });
      expect(received.headers).not.toHaveProperty('etag');
    });

    it('leaves the headers of a stored response as its plan set them', async () => {
      const headers = [...JSON_TYPE, ['Cache-Control', 'private, no-cache'], ['Cache-Status', 'portico; hit']] as const;
      const { call } = await handled(() => replyWith({}, { headers, etag: '"ours"' }));
      const received = await call(THINGS);
      expect(received.headers).toMatchObject({ 'cache-control': 'private, no-cache', 'cache-status': 'portico; hit' });
      expect((await call(THINGS, { headers: { 'If-None-Match': '"ours"' } })).status).toBe(304);
    });

    it('leaves a response unchanged in observe mode, even for conditional requests', async () => {
      const headers = [...JSON_TYPE, ['ETag', '"theirs"'], ['Set-Cookie', 'a=b'], ['X-Request-Id', 'theirs']] as const;
      const { call } = await handled(() => replyWith({}, { headers }), {}, { transparent: true });
      const received = await call(THINGS, { headers: { 'If-None-Match': '"theirs"', 'X-Request-Id': 'mine' } });
      expect(received.status).toBe(200);
      expect(received.headers).toMatchObject({ etag: '"theirs"', 'set-cookie': ['a=b'], 'x-request-id': 'theirs' });
      expect(received.headers).not.toHaveProperty('cache-control');
    });

    it('uses forwarding headers only from trusted proxies', async () => {
      const headers = { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https' };
      const closed = await published();
      await closed.call(THINGS, { headers });
      const open = await published({ arrival: { trustedProxies: ['127.0.0.1'] } });
      await open.call(THINGS, { headers });
      expect(partsOf(closed.next.asked[0])).toMatchObject({ clientAddress: '127.0.0.1', protocol: 'http' });
      expect(partsOf(open.next.asked[0])).toMatchObject({ clientAddress: '192.0.2.7', protocol: 'https' });
    });

    it('does not reveal its software', async () => {
      const { call } = await published();
      expect((await call(THINGS)).headers).not.toHaveProperty('x-powered-by');
    });

    it('reads no query parameters and allows no method override', async () => {
      const { call, next } = await published();
      await call(`${THINGS}?a[b]=c`, { headers: { 'X-HTTP-Method-Override': 'DELETE' } });
      expect(partsOf(next.asked[0])).toMatchObject({ method: 'GET', query: 'a[b]=c' });
    });
  });

  describe('a request that is refused', () => {
    it('before it is read is recorded too, without authentication', async () => {
      const { call, recorded, authenticated } = await published();
      expectError(await call('/services/v2/../admin'), 400, 'unsafe_path');
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([{ error: 'unsafe_path', status: 400, seconds: 0.5 }]);
      expect(authenticated).toEqual([]);
    });

    it('for an unsupported expectation is refused before any other check', async () => {
      const { port, recorded, authenticated } = await published();
      const { heard } = talk(
        port,
        `GET /../a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\nConnection: close\r\n\r\n`,
      );
      expect(await heard).toContain('HTTP/1.1 417 ');
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([{ error: 'expectation_failed', status: 417 }]);
      expect(authenticated).toEqual([]);
    });

    it.each([
      ['synchronously', fails],
      ['later', () => Promise.reject(new GatewayError('permission_denied', 'no'))],
    ])('by its plan %s gets the usual error body and is recorded once', async (_when, handle) => {
      for (const authenticate of [() => VERIFIED, () => Promise.resolve(VERIFIED)]) {
        const { call, recorded } = await handled(handle, { authenticate });
        const received = await call(RAW);
        expectError(received, 403, 'permission_denied');
        await until(() => recorded.length > 0);
        await turn();
        expect(recorded).toMatchObject([{ error: 'permission_denied', status: 403, bytes: received.bytes.length }]);
      }
    });

    it('by authentication never reaches its plan', async () => {
      const error = new GatewayError('credentials_refused', 'no', { headers: { 'WWW-Authenticate': 'Basic' } });
      const refusals: NonNullable<Parts['authenticate']>[] = [
        () => {
          throw error;
        },
        () => Promise.reject(error),
      ];
      for (const authenticate of refusals) {
        const { call, exchanges, recorded } = await handled(() => page, { authenticate });
        expectError(await call(RAW), 401, 'credentials_refused');
        await until(() => recorded.length === 1);
        expect(exchanges).toEqual([]);
      }
    });

    it('by an unexpected failure gets no details of it', async () => {
      const { call, recorded } = await handled(() => {
        throw new TypeError('secret');
      });
      const received = await call(RAW);
      expectError(received, 500, 'internal_error');
      expect(received.text).not.toContain('secret');
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([{ error: 'internal_error', cause: 'TypeError: secret' }]);
    });
  });

  describe('a remembered target', () => {
    const judged = replyWith(pageOf([1]));
    const withValidity = (validity: 'valid' | 'skipped' | 'violations') =>
      ({ ...judged, facts: { ...judged.facts, validity } }) as Reply;
    const { storedAs: _key, ...fetched } = page;

    it.each([
      ['a page from the cache', page, { cache: kept() }, 'GET', 1],
      ['a fetched cacheable page', fetched, { cache: kept() }, 'GET', 0],
      ['a valid response', judged, {}, 'GET', 1],
      ['an unchecked response', withValidity('skipped'), {}, 'GET', 0],
      ['a response that breaks the contract', withValidity('violations'), {}, 'GET', 0],
      ['a response to HEAD', judged, {}, 'HEAD', 0],
      ['a response to HEAD from the cache', page, { cache: kept() }, 'HEAD', 0],
    ] satisfies [string, Reply, PlannedParts, string, number][])(
      'remains known after %s: %#',
      async (_what, reply, planned, method, size) => {
        const { call, gateway } = await handled(() => reply, {}, planned);
        await call(THINGS, { method });
        expect(gateway.targets.size).toBe(size);
      },
    );

    it('is not decoded again, but its caller is authenticated and its plan runs each time', async () => {
      const { call, decoded, authenticated, exchanges, plan } = await handled(() => page, {
        authenticate: () => VERIFIED,
      });
      for (let times = 0; times < 3; times += 1) await call(RAW);
      expect(decoded).toEqual(['page=1&q=x']);
      expect([authenticated.length, exchanges.length]).toEqual([3, 3]);
      const seen = exchanges.map(({ arrival: _arrival, values, clientGone: _gone, trace, ...rest }) => {
        const { operation, caller, authentication, requests } = trace;
        return Object.assign(rest, { values: values(), operation, caller, authentication, requests });
      });
      expect(seen[0]).toMatchObject({
        principal: { name: 'alice' },
        audience: 'caller:verified:user:alice',
        target: RAW,
        requestedPage: { listTarget: `${THINGS}?q=x` },
        operation: plan.operation.id,
        caller: 'alice',
        authentication: VERIFIED.trace,
        requests: { level: 'enforce', outcome: 'passed' },
      });
      for (const later of seen.slice(1)) expect(later).toEqual(seen[0]);
    });

    it('can be read by stages that need it, under the base path and behind a trusted proxy', async () => {
      const arrival = { publicBasePath: '/qa', trustedProxies: ['127.0.0.1'] };
      const { call, decoded, exchanges } = await handled(
        (exchange) => {
          exchange.values();
          return page;
        },
        { arrival },
      );
      const headers = { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https', Accept: 'text/x' };
      for (let times = 0; times < 2; times += 1) await call(`/qa${RAW}`, { headers });
      expect(decoded).toEqual(['page=1&q=x', 'page=1&q=x']);
      for (const exchange of exchanges)
        expect(partsOf(exchange)).toMatchObject({
          target: RAW,
          path: THINGS,
          query: 'page=1&q=x',
          headers: { accept: 'text/x' },
          clientAddress: '192.0.2.7',
          protocol: 'https',
        });
    });

    it('is not used for another text or method', async () => {
      const { call, decoded } = await handled(() => page);
      await call(RAW);
      await call(RAW, { method: 'HEAD' });
      await call(`${RAW}&`);
      expect(decoded).toEqual(['page=1&q=x', 'page=1&q=x', 'page=1&q=x&']);
    });
  });

  describe('a client that disconnects', () => {
    const REQUEST = `GET ${RAW} HTTP/1.1\r\nHost: a\r\n\r\n`;

    it.each([
      ['replies', (gate: PromiseWithResolvers<Reply>) => gate.resolve(page)],
      ['fails', (gate: PromiseWithResolvers<Reply>) => gate.reject(new GatewayError('upstream_reset', ''))],
    ])('before its plan ends is recorded once, without a status, if that %s later', async (_what, end) => {
      const gate = Promise.withResolvers<Reply>();
      const { port, exchanges, recorded } = await handled(() => gate.promise);
      const { socket } = talk(port, REQUEST);
      await until(() => exchanges.length === 1);
      const signal = exchanges[0]?.clientGone?.();
      socket.destroy();
      await until(() => recorded.length === 1);
      expect(signal?.aborted).toBe(true);
      end(gate);
      await gate.promise.catch(() => undefined);
      await turn();
      expect(recorded).toMatchObject([{ status: 0 }]);
      expect(recorded[0]?.error).toBeUndefined();
    });

    it('cancels a plan that supports cancellation', async () => {
      const { call, recorded, exchanges } = await handled(
        (exchange) =>
          new Promise<never>((_resolve, reject) => {
            exchange.clientGone?.().addEventListener('abort', () => reject(new GatewayError('client_closed', '')));
          }),
      );
      const left = new AbortController();
      const received = call(THINGS, { signal: left.signal }).catch(() => 'left');
      await until(() => exchanges.length === 1);
      left.abort();
      expect(await received).toBe('left');
      await until(() => recorded.length === 1);
      expect(recorded[0]?.status).toBe(0);
    });

    it('during a large response is recorded without a status', async () => {
      const body = Buffer.alloc(64 * 1024 * 1024, 0x20);
      const { port, recorded, exchanges } = await handled(() => ({ ...page, body }), { authenticate: () => VERIFIED });
      const { socket } = talk(port, REQUEST);
      socket.pause();
      await until(() => exchanges.length === 1);
      expect(recorded).toEqual([]);
      socket.destroy();
      await until(() => recorded.length === 1);
      expect(recorded).toMatchObject([{ status: 0 }]);
    });

    it('after receiving its whole response cancels nothing', async () => {
      const { call, next, recorded } = await published();
      await call(THINGS);
      await until(() => recorded.length === 1);
      expect(next.asked[0]?.clientGone?.().aborted).toBe(false);
    });
  });

  describe('an undocumented request', () => {
    const passes: FakeGatewayParts = { verdict: { pass: true, permission: undefined, reported: true } };
    const OTHER = '/services/v2/other.json';

    const exchanged = (headers: HeaderPairs = []) => ({ status: 200, headers, body: bodyOf('x'), attempts: 1 });

    it('gets the upstream’s response unchanged, with the edge headers', async () => {
      const { call, recorded, sent } = await published({
        ...passes,
        passed: () => exchanged([['X-Request-Id', 'theirs']]),
      });
      const { status, text, headers } = await call(OTHER);
      expect([status, text]).toEqual([200, 'x']);
      expect(headers).toMatchObject({ via: '1.1 portico', 'x-request-id': 'theirs' });
      for (const name of ['cache-control', 'x-content-type-options']) expect(headers).not.toHaveProperty(name);
      expect(sent).toMatchObject([{ target: OTHER }]);
      expect(sent[0]?.owner?.().caller).toBe(callerNamed('alice').audience);
      await until(() => recorded.length === 1);
      expect(recorded[0]).toMatchObject({ route: 'passthrough', status: 200, bytes: 1 });
    });

    it('gets the usual error body if it fails', async () => {
      const passed = () => Promise.reject(new Error('unexpected'));
      const { call, recorded } = await published({ ...passes, passed });
      expectError(await call(OTHER), 500, 'internal_error');
      await until(() => recorded.length === 1);
    });

    it('is remembered if nothing is reported about it', async () => {
      for (const reported of [true, false]) {
        const verdict = { pass: true, permission: undefined, reported } as const;
        const { call, gateway, judged, authenticated } = await published({ verdict, passed: exchanged });
        for (let times = 0; times < 3; times += 1) await call(OTHER);
        expect([gateway.targets.size, judged.length]).toEqual(reported ? [0, 3] : [1, 1]);
        expect(authenticated).toHaveLength(3);
      }
    });
  });

  describe('requests on one connection', () => {
    it('get their responses in order, even if one waits for its plan and the next does not', async () => {
      const gate = Promise.withResolvers<Reply>();
      let first = true;
      const { port, recorded } = await handled(
        () => {
          const waits = first;
          first = false;
          return waits ? gate.promise : { ...page, body: Buffer.from('second') };
        },
        { authenticate: () => VERIFIED },
      );
      const begin = `GET ${RAW} HTTP/1.1\r\nHost: a\r\n`;
      const { socket, heard } = talk(port, `${begin}\r\n${begin}Connection: close\r\n\r\n`);
      await until(() => !first);
      gate.resolve({ ...page, body: Buffer.from('first') });
      await once(socket, 'close');
      expect((await heard).match(/first|second/g)).toEqual(['first', 'second']);
      await until(() => recorded.length === 2);
      expect(recorded.map(({ status }) => status)).toEqual([200, 200]);
    });
  });
});

describe('traces at the edge', () => {
  interface FakeResponse {
    readonly statusCode: number;
    readonly writableEnded?: boolean;
    readonly writableFinished?: boolean;
    readonly destroyed?: boolean;
    readonly closed?: boolean;
    readonly socket?: { readonly writableLength: number } | null;
  }

  /**
   * Passes a fake response to one of the two functions that record requests. Returns the recorded traces, and a
   * function that closes the response.
   */
  function recording(
    see: typeof recordAtClose,
    response: FakeResponse,
    { now = 7_500 }: { readonly now?: number } = {},
  ) {
    const recorded: Trace[] = [];
    const events = Object.assign(new EventEmitter(), { writableFinished: false, closed: false, ...response });
    const trace = createTrace({ requestId: 'r', traceparent: 't', method: 'GET', startedAt: 5_000 });
    const request = { res: events as unknown as ServerResponse, trace };
    see(request, {
      record: (done) => void recorded.push(structuredClone(done)),
      clock: () => now,
    });
    const close = (writableFinished: boolean) => {
      events.writableFinished = writableFinished;
      events.emit('close');
    };
    return { recorded, close };
  }

  const ENDED: FakeResponse = { statusCode: 200, writableEnded: true, destroyed: false, socket: { writableLength: 0 } };

  describe('the trace of a request', () => {
    it('is complete when it is recorded, which happens once', () => {
      const { recorded, close } = recording(recordAtClose, { statusCode: 201 });
      expect(recorded).toEqual([]);
      close(true);
      close(true);
      expect(recorded).toMatchObject([{ requestId: 'r', startedAt: 5_000, status: 201, seconds: 2.5 }]);
    });

    it('has no status if the client did not get the whole response', () => {
      const { recorded, close } = recording(recordAtClose, { statusCode: 200 });
      close(false);
      expect(recorded).toMatchObject([{ status: 0 }]);
    });

    it('has no negative duration if the clock was set back', () => {
      const { recorded, close } = recording(recordAtClose, { statusCode: 200 }, { now: 1_000 });
      close(true);
      expect(recorded).toMatchObject([{ seconds: 0 }]);
    });
  });

  describe('a response written in one piece', () => {
    it('is recorded immediately if the operating system has accepted all of it, and not again', () => {
      const { recorded, close } = recording(recordAtEnd, ENDED);
      expect(recorded).toMatchObject([{ status: 200, seconds: 2.5 }]);
      close(true);
      expect(recorded).toHaveLength(1);
    });

    it.each([
      ['has not ended', { ...ENDED, writableEnded: false }],
      ['is partly buffered', { ...ENDED, socket: { writableLength: 1 } }],
      ['waits for the one before it', { ...ENDED, socket: null }],
      ['was broken off', { ...ENDED, destroyed: true }],
    ])('is recorded when it closes if it %s', (_which, response) => {
      for (const whole of [true, false]) {
        const { recorded, close } = recording(recordAtEnd, response);
        expect(recorded).toEqual([]);
        close(whole);
        close(whole);
        expect(recorded.map(({ status }) => status)).toEqual([whole ? 200 : 0]);
      }
    });

    it.each([recordAtClose, recordAtEnd])('is recorded immediately if it has already closed', (see) => {
      const response = { statusCode: 200, destroyed: true, closed: true, socket: null };
      expect(recording(see, response).recorded).toMatchObject([{ status: 0 }]);
      expect(recording(see, { ...response, writableFinished: true }).recorded).toMatchObject([{ status: 200 }]);
    });

    it('is recorded only when it closes if requested', () => {
      const { recorded, close } = recording(recordAtClose, ENDED);
      expect(recorded).toEqual([]);
      close(true);
      expect(recorded).toMatchObject([{ status: 200 }]);
    });
  });
});

describe("a client's abort signal", () => {
  const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

  /** Starts a server. Returns the response object of its first request before anything has been written to it. */
  async function asked(): Promise<{ port: number; url: string; response: Promise<ServerResponse> }> {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    const { port, url } = await serve((_request, response) => resolve(response));
    return { port, url, response: promise };
  }

  it('is aborted if the client disconnects before the reply is written', async () => {
    const { port, response } = await asked();
    const { socket } = talk(port, REQUEST);
    const signal = clientGone(await response);
    expect(signal.aborted).toBe(false);
    socket.destroy();
    await until(() => signal.aborted);
  });

  it('is aborted immediately if the client has already disconnected', async () => {
    const { port, response } = await asked();
    const { socket } = talk(port, REQUEST);
    const held = await response;
    const closed = once(held, 'close');
    socket.destroy();
    await closed;
    expect(clientGone(held).aborted).toBe(true);
  });

  it('is not aborted after a written reply', async () => {
    const { url, response } = await asked();
    const received = callAt(url, '/');
    const held = await response;
    const closed = once(held, 'close');
    const before = clientGone(held);
    held.end('whole');
    expect((await received).text).toBe('whole');
    await closed;
    expect([before.aborted, clientGone(held).aborted]).toEqual([false, false]);
  });
});

describe('the recorder of traces', () => {
  // The attack: a request makes a metric or the ledger throw. Without a guard, the error would be thrown while the
  // response is closing and would crash the process.
  it('passes a trace to every observer in order, and reports one that throws without stopping the others', () => {
    const seen: string[] = [];
    const broken = new Error('broken');
    const record = createTraceRecorder(
      [
        { name: 'metrics', record: ({ requestId }) => seen.push(`metrics ${requestId}`) },
        {
          name: 'ledger',
          record: () => {
            throw broken;
          },
        },
        { name: 'ladder', record: ({ requestId }) => seen.push(`ladder ${requestId}`) },
      ],
      (name, error) => seen.push(`${name} failed: ${error === broken}`),
    );
    record(traceWith({}));
    expect(seen).toEqual(['metrics request-1', 'ledger failed: true', 'ladder request-1']);
  });
});
