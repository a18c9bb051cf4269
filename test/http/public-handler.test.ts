import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { createPublicHandler } from '../../src/http/public-handler.ts';
import type { PublicAppServices } from '../../src/http/public-app.ts';
import type { AuthenticationResult } from '../../src/identity/authenticator.ts';
import type { Trace } from '../../src/model/trace.ts';
import { toAskedPage } from '../../src/paging/asked-page.ts';
import { createKnownTargets } from '../../src/pipeline/known-targets.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import type { Reply } from '../../src/pipeline/reply.ts';
import type { Handler } from '../../src/pipeline/stage.ts';
import { callAt, type Call } from '../builders/call.ts';
import { expectError } from '../builders/expect-error.ts';
import { callerNamed, exchangeWith, JSON_TYPE, kept, plannedWith, violationWith } from '../builders/exchange.ts';
import { houseWith } from '../builders/house.ts';
import { until } from '../builders/until.ts';
import { serve, talk } from './serve.ts';

const THINGS = '/services/v2/thing.json';
const RAW = `${THINGS}?page=1&q=x`;
const page: Reply = { status: 200, headers: JSON_TYPE, body: Buffer.from('{"a":1}'), etag: '"tag"', keptAs: 'k' };
const RECALLED: AuthenticationResult = {
  kind: 'principal',
  principal: callerNamed('alice'),
  trace: { level: 'enforce', outcome: 'passed', principal: 'verified' },
};
const fails = (): never => {
  throw new GatewayError('permission_denied', 'no');
};

interface Parts {
  readonly handle: Handler;
  readonly more?: Partial<PublicAppServices>;
  readonly basePath?: string;
}

/** The public side with one known target, whose plan is this handler. */
async function handled({ handle, more = {}, basePath = '' }: Parts) {
  const exchanges: Exchange[] = [];
  const recorded: Trace[] = [];
  const lines: unknown[] = [];
  const counting: Handler = (exchange) => {
    exchanges.push(exchange);
    return handle(exchange);
  };
  const made = houseWith({ plan: { ...plannedWith({ cache: kept() }), handle: counting } });
  const { house, plan } = made;
  const knownTargets = createKnownTargets(10_000);
  const target = `${THINGS}?q=x`;
  const asked = toAskedPage({ page: 1, pageSize: undefined, query: new Map() }, target);
  knownTargets.remember(`${basePath}${RAW}`, {
    plan,
    target,
    asked,
    requests: { level: 'enforce', outcome: 'passed' },
  });
  const decoded: unknown[] = [];
  let now = 1_000;
  const handler = createPublicHandler({
    house: {
      ...house,
      authenticator: { ...house.authenticator, recall: () => RECALLED },
      contract: {
        ...house.contract,
        decodeParameters: (...given: unknown[]) => {
          decoded.push(given[2]);
          return { values: exchangeWith().values(), violations: [], reported: [] };
        },
      },
    },
    arrival: { maxTargetBytes: 1000, publicBasePath: basePath },
    trustedProxies: ['127.0.0.1'],
    errorsFor: () => 'normalized',
    contractStatusHeader: true,
    reportIdOf: () => 'a1',
    pass: () => Promise.reject(new Error('nothing passes')),
    accessLog: { watch: () => undefined, write: (entry) => void lines.push(entry) },
    gzip: () => undefined,
    knownTargets,
    record: (trace) => recorded.push(structuredClone({ ...trace, cause: String(trace.cause) })),
    clock: () => (now += 500),
    ...more,
  });
  const { url, port } = await serve(handler);
  return {
    ...made,
    exchanges,
    recorded,
    lines,
    decoded,
    port,
    call: (to: string, call?: Call) => callAt(url, to, call),
  };
}

describe('a request that is recognised', () => {
  it('goes straight to its plan, and nothing of it is read', async () => {
    const { call, exchanges, authenticated, decoded, plan } = await handled({ handle: () => page });
    const answer = await call(RAW, { headers: { 'X-Request-Id': 'mine' } });
    expect([answer.status, answer.text]).toEqual([200, '{"a":1}']);
    expect(answer.headers).toMatchObject({ etag: '"tag"', via: '1.1 portico', 'x-request-id': 'mine' });
    expect([authenticated, decoded]).toEqual([[], []]);
    expect(exchanges).toMatchObject([
      {
        principal: { name: 'alice' },
        audience: 'caller:name:alice',
        target: `${THINGS}?q=x`,
        asked: { page: 1, listTarget: `${THINGS}?q=x` },
        trace: {
          method: 'GET',
          operation: plan.operation.id,
          caller: 'alice',
          authentication: RECALLED.trace,
          requests: { level: 'enforce', outcome: 'passed' },
        },
      },
    ]);
  });

  it('is recorded and logged once, whole', async () => {
    const { call, recorded, lines, plan } = await handled({ handle: () => page });
    const answer = await call(RAW);
    await until(() => lines.length > 0);
    expect(recorded).toMatchObject([{ status: 200, bytes: answer.bytes.length, seconds: 0.5, caller: 'alice' }]);
    expect(lines).toMatchObject([{ template: plan.operation.path, target: RAW, caller: 'alice' }]);
    await call(RAW, { headers: { 'If-None-Match': '"tag"' } });
    await until(() => lines.length > 1);
    expect(recorded.slice(1)).toMatchObject([{ status: 304, bytes: 0 }]);
    expect(lines).toHaveLength(2);
  });

  it('can be read by stages that have to, under the base path and behind a trusted proxy', async () => {
    const { call, exchanges, decoded } = await handled({
      basePath: '/qa',
      handle: (exchange) => {
        exchange.values();
        return Promise.resolve(page);
      },
    });
    const headers = { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https', Accept: 'text/x' };
    await call(`/qa${RAW}`, { headers });
    expect(decoded).toEqual(['page=1&q=x']);
    expect(exchanges[0]?.arrival).toMatchObject({
      target: RAW,
      path: THINGS,
      query: 'page=1&q=x',
      headers: { accept: 'text/x' },
      clientAddress: '192.0.2.7',
      protocol: 'https',
    });
  });

  it('is read at its own level of trust: nobody is believed who is not trusted', async () => {
    const addresses: string[] = [];
    const { call } = await handled({
      handle: ({ arrival }) => {
        addresses.push(arrival.clientAddress);
        return page;
      },
      more: { trustedProxies: [] },
    });
    await call(RAW, { headers: { 'X-Forwarded-For': '192.0.2.7' } });
    expect(addresses).toEqual(['127.0.0.1']);
  });

  it.each([
    ['at once', fails],
    ['later', () => Promise.reject(new GatewayError('permission_denied', 'no'))],
  ])('gets the one body of errors when its plan refuses it %s, and is recorded once', async (_when, handle) => {
    const { call, recorded, lines } = await handled({ handle });
    const answer = await call(RAW);
    expectError(answer, 403, 'permission_denied');
    await until(() => lines.length > 0);
    expect(recorded).toMatchObject([{ error: 'permission_denied', status: 403, bytes: answer.bytes.length }]);
    expect(lines).toHaveLength(1);
  });

  it('gets no detail of a failure that nobody expected', async () => {
    const { call, recorded } = await handled({
      handle: () => {
        throw new TypeError('secret');
      },
    });
    const answer = await call(RAW);
    expectError(answer, 500, 'internal_error');
    expect(answer.text).not.toContain('secret');
    await until(() => recorded.length === 1);
    expect(recorded).toMatchObject([{ error: 'internal_error', cause: 'TypeError: secret' }]);
  });

  it('is answered by a stream too, and counted when that has ended', async () => {
    const { call, recorded } = await handled({
      handle: () => ({ status: 200, headers: [], body: Readable.from(['abc', 'de'].map(Buffer.from)) }),
    });
    expect((await call(RAW)).text).toBe('abcde');
    await until(() => recorded.length === 1);
    expect(recorded).toMatchObject([{ status: 200, bytes: 5 }]);
  });
});

describe('a client that leaves', () => {
  const REQUEST = `GET ${RAW} HTTP/1.1\r\nHost: a\r\n\r\n`;

  it('while its plan is at work is recorded once, without a status', async () => {
    const gate = Promise.withResolvers<Reply>();
    const { port, exchanges, recorded, lines } = await handled({ handle: () => gate.promise });
    const { socket } = talk(port, REQUEST);
    await until(() => exchanges.length === 1);
    const signal = exchanges[0]?.clientGone?.();
    socket.destroy();
    await until(() => lines.length === 1);
    expect(signal?.aborted).toBe(true);
    gate.resolve(page);
    await gate.promise;
    await turn();
    expect(recorded).toMatchObject([{ status: 0 }]);
    expect(lines).toHaveLength(1);
  });

  it('whose plan fails after that is recorded once too', async () => {
    const gate = Promise.withResolvers<Reply>();
    const { port, exchanges, recorded, lines } = await handled({ handle: () => gate.promise });
    const { socket } = talk(port, REQUEST);
    await until(() => exchanges.length === 1);
    socket.destroy();
    await until(() => lines.length === 1);
    gate.reject(new GatewayError('upstream_reset', ''));
    await gate.promise.catch(() => undefined);
    await turn();
    expect(recorded).toMatchObject([{ status: 0 }]);
    expect(lines).toHaveLength(1);
  });

  it('while a large answer is on its way is recorded without a status', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024, 0x20);
    const { port, recorded, exchanges } = await handled({ handle: () => ({ ...page, body }) });
    const { socket } = talk(port, REQUEST);
    socket.pause();
    await until(() => exchanges.length === 1);
    expect(recorded).toEqual([]);
    socket.destroy();
    await until(() => recorded.length === 1);
    expect(recorded).toMatchObject([{ status: 0 }]);
  });
});

describe('every other request', () => {
  it.each([
    ['of a target that is not known', `${RAW}&`, {}],
    ['that wishes for a fresh answer', RAW, { headers: { 'Cache-Control': 'no-cache' } }],
    ['with HEAD', RAW, { method: 'HEAD' }],
  ] satisfies [string, string, Call][])('is judged from the start: one %s', async (_which, target, call) => {
    const made = await handled({ handle: () => page });
    expect((await made.call(target, call)).status).toBe(200);
    expect(made.authenticated).toHaveLength(1);
    expect(made.decoded).toHaveLength(1);
  });

  it('teaches its target when it was answered from memory, and not otherwise', async () => {
    const { keptAs: _key, ...fetched } = page;
    let reply: Reply = fetched;
    const made = await handled({ handle: () => reply });
    for (const times of [1, 2]) {
      await made.call(`${THINGS}?q=new`);
      expect(made.authenticated).toHaveLength(times);
    }
    reply = page;
    await made.call(`${THINGS}?q=new`);
    expect(made.authenticated).toHaveLength(3);
    await made.call(`${THINGS}?q=new`);
    expect(made.authenticated).toHaveLength(3);
  });

  it('teaches nothing when something was found wrong with it', async () => {
    const made = await handled({
      handle: ({ trace }) => {
        trace.violations.push(violationWith({ check: 'requests' }));
        return page;
      },
    });
    for (const times of [1, 2, 3]) {
      await made.call(`${THINGS}?q=wrong`);
      expect(made.authenticated).toHaveLength(times);
    }
  });

  it('teaches what it asks for when something was found in its answer, which is judged again', async () => {
    const made = await handled({
      handle: ({ trace }) => {
        trace.violations.push(violationWith({ check: 'responses', direction: 'response' }));
        return page;
      },
    });
    for (let times = 0; times < 3; times += 1) await made.call(`${THINGS}?q=drift`);
    expect(made.authenticated).toHaveLength(1);
  });

  it('teaches nothing when it was no GET', async () => {
    const made = await handled({ handle: () => page });
    await made.call(`${THINGS}?q=head`, { method: 'HEAD' });
    await made.call(`${THINGS}?q=head`);
    expect(made.authenticated).toHaveLength(2);
  });
});

describe('requests on one connection', () => {
  it('are answered in their order, where one waits for its plan and the next one does not', async () => {
    const gate = Promise.withResolvers<Reply>();
    let first = true;
    const { port, recorded } = await handled({
      handle: () => {
        const waits = first;
        first = false;
        return waits ? gate.promise : { ...page, body: Buffer.from('second') };
      },
    });
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
