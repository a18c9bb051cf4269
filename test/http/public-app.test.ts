import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import type { PassedRequest } from '../../src/http/passed-request.ts';
import { createPublicApp, type PublicAppServices } from '../../src/http/public-app.ts';
import type { Trace } from '../../src/model/trace.ts';
import { createKnownTargets } from '../../src/pipeline/known-targets.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import type { Reply } from '../../src/pipeline/reply.ts';
import { callAt, type Call } from '../builders/call.ts';
import { createNext, JSON_TYPE, kept, pageOf, plannedWith, replyWith } from '../builders/exchange.ts';
import { houseWith, type HouseParts } from '../builders/house.ts';
import { until } from '../builders/until.ts';
import { serve } from './serve.ts';

const THINGS = '/services/v2/thing.json';

async function published(parts: HouseParts = {}, more: Partial<PublicAppServices> = {}) {
  const recorded: Trace[] = [];
  const made = houseWith(parts);
  let now = 1_000;
  const app = createPublicApp({
    house: made.house,
    arrival: { maxTargetBytes: 1000, publicBasePath: '' },
    trustedProxies: [],
    errorsFor: () => 'normalized',
    contractStatusHeader: true,
    reportIdOf: () => 'a1',
    pass: () => Promise.reject(new Error('nothing passes')),
    accessLog: { watch: () => undefined, write: () => undefined },
    gzip: () => undefined,
    knownTargets: createKnownTargets(10_000),
    record: (trace) => recorded.push(structuredClone({ ...trace, cause: String(trace.cause) })),
    clock: () => (now += 500),
    ...more,
  });
  const { url } = await serve(app);
  return { ...made, recorded, call: (target: string, call?: Call) => callAt(url, target, call) };
}

/** A plan that answers what the handler says. */
const planned = (handler: Parameters<typeof createNext>[0], parts: Parameters<typeof plannedWith>[0] = {}) => ({
  plan: { ...plannedWith(parts), handle: createNext(handler).handle },
});

describe('the public side', () => {
  it('answers a documented request and records it once, whole', async () => {
    const { call, recorded, next } = await published();
    const answer = await call(`${THINGS}?q=x`, { headers: { 'X-Request-Id': 'mine' } });
    expect([answer.status, answer.json]).toEqual([200, pageOf([1])]);
    await until(() => recorded.length === 1);
    expect(recorded[0]).toMatchObject({
      requestId: 'mine',
      method: 'GET',
      operation: 'listThings',
      status: 200,
      bytes: answer.bytes.length,
      seconds: 0.5,
    });
    expect(next.asked[0]?.arrival).toMatchObject({ target: `${THINGS}?q=x`, query: 'q=x', clientAddress: '127.0.0.1' });
  });

  it.each([
    ['a valid answer', {}, {}, 'GET', true],
    ['an answer that was not judged', { facts: { validity: 'skipped' } }, {}, 'GET', false],
    ['an answer that breaks the contract', { facts: { validity: 'violations' } }, {}, 'GET', false],
    ['the head alone', {}, {}, 'HEAD', false],
    ['an answer in observe', {}, { transparent: true }, 'GET', false],
  ] as const)('remembers the target of %s: %#', async (_what, reply, parts, method, remembered) => {
    const knownTargets = createKnownTargets(10_000);
    const judged = replyWith(pageOf([1]));
    const facts = 'facts' in reply ? { facts: { ...judged.facts, ...reply.facts } as Reply['facts'] } : {};
    const { call } = await published(planned({ ...judged, ...facts } as Reply, parts), { knownTargets });
    await call(THINGS, { method });
    expect(knownTargets.recall(THINGS) !== undefined).toBe(remembered);
  });

  it('lets nobody keep an answer that is not kept here, and shows nothing that the upstream says of itself', async () => {
    const headers = [
      ...JSON_TYPE,
      ['ETag', '"theirs"'],
      ['Cache-Control', 'public'],
      ['X-Request-Id', 'theirs'],
    ] as const;
    const { call } = await published(planned(replyWith({}, { headers })));
    const answer = await call(THINGS, { headers: { 'X-Request-Id': 'mine', 'If-None-Match': '"theirs"' } });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-request-id': 'mine' });
    expect(answer.headers).not.toHaveProperty('etag');
  });

  it('leaves the fields of an answer that is kept as its plan has made them', async () => {
    const headers = [...JSON_TYPE, ['Cache-Control', 'private, no-cache'], ['Cache-Status', 'portico; hit']] as const;
    const { call } = await published(planned(replyWith({}, { headers, etag: '"ours"' }), { cache: kept() }));
    const answer = await call(THINGS);
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-cache', 'cache-status': 'portico; hit' });
    expect((await call(THINGS, { headers: { 'If-None-Match': '"ours"' } })).status).toBe(304);
  });

  it('leaves an observed answer as it came, conditional ones too', async () => {
    const headers = [...JSON_TYPE, ['ETag', '"theirs"'], ['Set-Cookie', 'a=b'], ['X-Request-Id', 'theirs']] as const;
    const { call } = await published(planned(replyWith({}, { headers }), { transparent: true }));
    const answer = await call(THINGS, { headers: { 'If-None-Match': '"theirs"', 'X-Request-Id': 'mine' } });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ etag: '"theirs"', 'set-cookie': ['a=b'], 'x-request-id': 'theirs' });
    expect(answer.headers).not.toHaveProperty('cache-control');
  });

  it('answers what was thrown in one place, and records its code', async () => {
    const { call, recorded } = await published(planned(() => Promise.reject(new GatewayError('upstream_reset', ''))));
    expect(await call(THINGS)).toMatchObject({ status: 502, json: { code: 'upstream_reset' } });
    await until(() => recorded.length === 1);
    expect(recorded[0]).toMatchObject({ error: 'upstream_reset', status: 502 });
  });

  it('answers and records what is refused before it is read', async () => {
    const { call, recorded, authenticated } = await published();
    expect(await call('/services/v2/../admin')).toMatchObject({ status: 400, json: { code: 'unsafe_path' } });
    await until(() => recorded.length === 1);
    expect(recorded[0]).toMatchObject({ error: 'unsafe_path', status: 400, seconds: 0.5 });
    expect(authenticated).toEqual([]);
  });

  it('believes a proxy only where it is trusted', async () => {
    const headers = { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https' };
    const closed = await published();
    await closed.call(THINGS, { headers });
    const open = await published({}, { trustedProxies: ['127.0.0.1'] });
    await open.call(THINGS, { headers });
    expect(closed.next.asked[0]?.arrival).toMatchObject({ clientAddress: '127.0.0.1', protocol: 'http' });
    expect(open.next.asked[0]?.arrival).toMatchObject({ clientAddress: '192.0.2.7', protocol: 'https' });
  });

  it('does not say what it is made of', async () => {
    const { call } = await published();
    expect((await call(THINGS)).headers).not.toHaveProperty('x-powered-by');
  });

  it('takes no query apart and no method for another', async () => {
    const { call, next } = await published();
    await call(`${THINGS}?a[b]=c`, { method: 'GET', headers: { 'X-HTTP-Method-Override': 'DELETE' } });
    expect(next.asked[0]?.arrival).toMatchObject({ method: 'GET', query: 'a[b]=c' });
  });

  it('leaves the framework nothing to read a query with', async () => {
    const queries: unknown[] = [];
    const pass = async ({ req, res }: PassedRequest) => {
      queries.push((req as Request).query);
      res.end('passed');
    };
    const { call } = await published({ verdict: { pass: true, permission: undefined, reported: true } }, { pass });
    await call('/elsewhere?a[b]=c&d=e');
    expect(queries).toEqual([{}]);
  });
});

describe('a client that leaves', () => {
  it('while its plan is at work ends it, and is recorded without a status', async () => {
    const asked: Exchange[] = [];
    const handler = (exchange: Exchange) => {
      asked.push(exchange);
      return new Promise<never>((_resolve, reject) => {
        exchange.clientGone?.().addEventListener('abort', () => reject(new GatewayError('client_closed', '')));
      });
    };
    const { call, recorded } = await published(planned(handler));
    const left = new AbortController();
    const answer = call(THINGS, { signal: left.signal }).catch(() => 'left');
    await until(() => asked.length === 1);
    left.abort();
    expect(await answer).toBe('left');
    await until(() => recorded.length === 1);
    expect(asked[0]?.clientGone?.().aborted).toBe(true);
    expect(recorded[0]?.status).toBe(0);
  });

  it('before its plan answers gets nothing, and nothing fails for it', async () => {
    const gate = Promise.withResolvers<ReturnType<typeof replyWith>>();
    let asked = 0;
    const handler = () => {
      asked += 1;
      return gate.promise;
    };
    const { call, recorded } = await published(planned(handler));
    const left = new AbortController();
    const answer = call(THINGS, { signal: left.signal }).catch(() => 'left');
    await until(() => asked === 1);
    left.abort();
    await answer;
    await until(() => recorded.length === 1);
    gate.resolve(replyWith({}));
    expect((await call(THINGS)).status).toBe(200);
    expect(recorded.every(({ error }) => error === undefined)).toBe(true);
  });

  it('does not end the work of one that got its whole answer', async () => {
    const { call, next, recorded } = await published();
    await call(THINGS);
    await until(() => recorded.length === 1);
    expect(next.asked[0]?.clientGone?.().aborted).toBe(false);
  });
});

describe('a request past the contract', () => {
  const passes: HouseParts = { verdict: { pass: true, permission: undefined, reported: true } };

  it('is passed with its principal, its trace and the fields of the edge', async () => {
    const passed: PassedRequest[] = [];
    const { call, recorded } = await published(passes, {
      pass: (request) => {
        passed.push(request);
        const fields = request.extra([['X-Request-Id', 'theirs']]);
        request.res.writeHead(204, fields.flat()).end();
        return Promise.resolve();
      },
    });
    const answer = await call('/services/v2/other.json');
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({ via: '1.1 portico' });
    expect(answer.headers).not.toHaveProperty('x-request-id');
    expect(passed[0]).toMatchObject({ principal: { name: 'alice' }, arrival: { path: '/services/v2/other.json' } });
    await until(() => recorded.length === 1);
    expect(recorded[0]).toMatchObject({ route: 'passthrough', status: 204 });
  });

  it('is answered by the one catch when it fails', async () => {
    const { call } = await published(passes);
    expect(await call('/services/v2/other.json')).toMatchObject({ status: 500, json: { code: 'internal_error' } });
  });
});
