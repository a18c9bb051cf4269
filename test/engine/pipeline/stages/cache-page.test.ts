import { beforeEach, describe, expect, it } from 'vitest';
import { type AudienceGuard, createAudienceGuard } from '../../../../src/engine/cache/audience-guard.ts';
import { createPageCache, type PageCache } from '../../../../src/engine/cache/memory-pages.ts';
import type { SharedPages } from '../../../../src/engine/cache/shared-pages.ts';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import { headerValue } from '../../../../src/engine/model/header-pairs.ts';
import type { Trace } from '../../../../src/engine/model/trace.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { cachePage } from '../../../../src/engine/pipeline/stages/cache-page.ts';
import { pageKey } from '../../../../src/engine/pipeline/page-key.ts';
import {
  arrivalWith,
  callerNamed,
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  type FakeNext,
  grantsWith,
  JSON_TYPE,
  kept,
  pageOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  textOf,
} from '../../../builders/exchange.ts';
import { createTestClock, type TestClock } from '../../../builders/test-clock.ts';
import { ownPages } from '../../../builders/own-pages.ts';
import { until } from '../../../builders/until.ts';
import { bodyOf } from '../../../builders/streamed-body.ts';

let clock: TestClock;
let cache: PageCache;
let guard: AudienceGuard;
let next: FakeNext;
let background: Trace[];

beforeEach(() => {
  clock = createTestClock();
  cache = createPageCache({ maxBytes: 1 << 20, maxEntryBytes: 1 << 16, gzip: true, zstd: true }, clock);
  guard = createAudienceGuard({ sampleShared: 1, random: () => 0 });
  next = createNext();
  background = [];
});

function cached(parts: PlannedParts = {}, noCacheRoles: readonly string[] = []): ReturnType<typeof stageIn> {
  const services = {
    cache,
    sharedPages: ownPages(clock),
    guard,
    noCacheRoles,
    clock,
    recordTrace: (trace: Trace) => void background.push(trace),
  };
  return stageIn(cachePage(services), plannedWith({ cache: kept(), ...parts }), next);
}

interface Seen {
  readonly reply: Reply;
  readonly trace: Trace;
  readonly text: string;
  readonly cacheStatus: string | undefined;
}

async function ask(handle: ReturnType<typeof stageIn>, parts: ExchangeParts = {}): Promise<Seen> {
  const exchange = exchangeWith(parts);
  const reply = await handle(exchange);
  const cacheStatus = headerValue(reply.headers, 'cache-status');
  return { reply, trace: exchange.trace, text: textOf(reply.body), cacheStatus };
}

/** Sends a request that is expected to fail. */
async function failed(handle: ReturnType<typeof stageIn>, parts: ExchangeParts = {}) {
  const exchange = exchangeWith(parts);
  const error = await failureOf(handle(exchange));
  return { error, trace: exchange.trace };
}

const failing = (...error: ConstructorParameters<typeof GatewayError>) => {
  next.respond = () => Promise.reject(new GatewayError(...error));
};

/** Returns the names of all headers, except those that reveal whether the page came from the cache. */
const shown = ({ reply }: Seen) =>
  reply.headers.map(([name]) => name).filter((name) => !/^(?:Age|Cache-Status)$/.test(name));

const page = (id: number) => replyWith(pageOf([id]));

describe('cache-page', () => {
  it('has work only for cached operations', () => {
    expect(() => cached({ cache: undefined })).toThrow(/no work/);
  });

  it('serves the second request for a page from memory, with its age and the same entity tag', async () => {
    const handle = cached();
    const first = await ask(handle);
    clock.advance(7);
    const second = await ask(handle);
    expect(next.asked).toHaveLength(1);
    expect(second.text).toBe(first.text);
    expect(second.reply.etag).toBe(first.reply.etag);
    expect(first.cacheStatus).toBe('portico; fwd=miss; stored');
    expect(second.cacheStatus).toBe('portico; hit; ttl=23');
    expect(headerValue(second.reply.headers, 'age')).toBe('7');
    expect(first.trace.cache).toEqual({ status: 'miss', reason: 'miss', stored: true });
    expect(second.trace.cache).toEqual({ status: 'hit', ageSeconds: 7 });
  });

  it('requires clients to revalidate before each use', async () => {
    const handle = cached();
    for (const { reply } of [await ask(handle), await ask(handle)])
      expect(headerValue(reply.headers, 'cache-control')).toBe('private, no-cache');
  });

  it('stores the page count with the page', async () => {
    const handle = cached();
    await ask(handle);
    expect((await ask(handle)).reply.pageCount).toBe(3);
  });

  it('separates pages by audience and target', async () => {
    const handle = cached();
    await ask(handle);
    await ask(handle, { audience: 'caller:other' });
    await ask(handle, { target: '/services/v2/thing.json?q=x' });
    expect(next.asked).toHaveLength(3);
  });

  it('fetches independently of the connection that caused the fill', async () => {
    await ask(cached(), { clientGone: () => AbortSignal.abort() });
    expect(next.asked[0]?.clientGone).toBeUndefined();
  });

  it("shows neither cookies nor the upstream's freshness headers on a miss", async () => {
    next.respond = () =>
      replyWith(pageOf([1]), {
        headers: [...JSON_TYPE, ['Set-Cookie', 'a=b'], ['Cache-Control', 'max-age=60'], ['ETag', '"theirs"']],
      });
    const { reply } = await ask(cached());
    expect(reply.headers.map(([name]) => name)).toEqual(['Content-Type', 'Cache-Control', 'Vary', 'Cache-Status']);
  });

  it('sends the same headers on a miss as on a hit, and more with an error', async () => {
    const headers = [...JSON_TYPE, ['Retry-After', '5'], ['Sunset', 'soon']] as const;
    next.respond = () => replyWith(pageOf([1]), { headers });
    const handle = cached();
    const miss = await ask(handle);
    expect(shown(miss)).toEqual(shown(await ask(handle)));
    next.respond = () => replyWith({ error: 'x' }, { status: 503, headers });
    expect(shown(await ask(handle, { target: '/other' }))).toContain('Retry-After');
  });

  it('gives an error response no entity tag', async () => {
    next.respond = () => replyWith({ error: 'x' }, { status: 404 });
    expect((await ask(cached())).reply.etag).toBeUndefined();
  });

  it('reports a failed fill as a miss', async () => {
    failing('upstream_reset', '');
    const { error, trace } = await failed(cached());
    expect(error).toMatchObject({ code: 'upstream_reset' });
    expect(trace.cache).toEqual({ status: 'miss', reason: 'miss', stored: false, notStored: 'no-response' });
  });

  it.each([
    ['upstream_error', 500, 'status'],
    ['upstream_error_in_success', 200, 'error-inside'],
    ['upstream_permission_denied', 200, 'error-inside'],
    ['upstream_invalid_response', 200, 'validity'],
  ] as const)('reports why there is nothing to store after %s', async (code, status, reason) => {
    const exchange = exchangeWith();
    next.respond = () => {
      exchange.trace.upstream = { status, shape: 'answer', seconds: 0, attempts: 1 };
      return Promise.reject(new GatewayError(code, ''));
    };
    await failureOf(cached()(exchange));
    expect(exchange.trace.cache).toMatchObject({ stored: false, notStored: reason });
  });

  it('states why the page is not stored', async () => {
    next.respond = () => ({ ...page(1), headers: [...JSON_TYPE, ['Set-Cookie', 'theme=dark']] });
    const { trace, cacheStatus } = await ask(cached());
    expect(trace.cache).toMatchObject({ stored: false, notStored: 'set-cookie' });
    expect(cacheStatus).toBe('portico; fwd=miss; detail=set-cookie');
  });

  it('does not store a response that another request fetched and stores', async () => {
    next.respond = () => ({ ...page(1), shared: true });
    const { trace, cacheStatus } = await ask(cached());
    expect(trace.cache).toEqual({ status: 'coalesced', reason: 'miss', stored: false });
    expect(cacheStatus).toBe('portico; fwd=miss; collapsed');
    expect(cache.stats().entries).toBe(0);
  });
});

const recordTrace = () => {
  throw new Error('full');
};

describe('a stale page', () => {
  it('is served at once while one new page is fetched for all requests', async () => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    const gate = Promise.withResolvers<Reply>();
    next.respond = () => gate.promise;
    const stale = await ask(handle);
    await ask(handle);
    expect(stale.text).toBe(JSON.stringify(pageOf([1])));
    expect(stale.cacheStatus).toBe('portico; hit; ttl=-1');
    expect(stale.trace.cache).toEqual({ status: 'stale', ageSeconds: 31 });
    expect(next.asked).toHaveLength(2);
    gate.resolve(page(2));
    await until(() => background.length === 1);
    expect((await ask(handle)).text).toBe(JSON.stringify(pageOf([2])));
  });

  it('is refreshed with a separate trace, which is recorded', async () => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    const { trace } = await ask(handle, { clientGone: () => AbortSignal.abort() });
    await until(() => background.length === 1);
    expect(background[0]).toMatchObject({ background: true, operation: 'listThings', requestId: trace.requestId });
    expect(background[0]?.cache).toEqual({ status: 'miss', reason: 'stale', stored: true });
    expect(next.asked[1]?.trace).toBe(background[0]);
    expect(next.asked[1]?.clientGone).toBeUndefined();
  });

  it('survives a failed refresh, which is recorded, and is refreshed again at the next request', async () => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    failing('upstream_error', '');
    await ask(handle);
    await until(() => background.length === 1);
    expect(background[0]?.error).toBe('upstream_error');
    expect((await ask(handle)).trace.cache?.status).toBe('stale');
    await until(() => background.length === 2);
  });

  it('survives a refresh that fails unexpectedly, and the cause is recorded', async () => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    const cause = new Error('unexpected');
    next.respond = () => Promise.reject(cause);
    await ask(handle);
    await until(() => background.length === 1);
    expect(background[0]).toMatchObject({ error: 'internal_error', cause });
    expect(cache.stats().entries).toBe(1);
  });

  it.each([
    ['translated', () => Promise.reject(new GatewayError('upstream_permission_denied', ''))],
    ['with its own status', () => replyWith({ error: 'no' }, { status: 403 })],
    ['as a bad request', () => replyWith({ error: 'no' }, { status: 400 })],
  ])('is dropped if the upstream refuses it to its audience (%s)', async (_how, respond) => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    next.respond = respond;
    await ask(handle);
    await until(() => background.length === 1);
    expect(cache.stats().entries).toBe(0);
  });

  it.each([
    ['limits requests', () => Promise.reject(new GatewayError('upstream_rate_limited', ''))],
    ['fails', () => replyWith({ error: 'x' }, { status: 500 })],
  ])('remains if the upstream only %s', async (_what, respond) => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    next.respond = respond;
    await ask(handle);
    await until(() => background.length === 1);
    expect(cache.stats().entries).toBe(1);
  });

  it('is not restored by a refresh that began before a purge', async () => {
    const handle = cached();
    await ask(handle);
    clock.advance(31);
    const gate = Promise.withResolvers<Reply>();
    next.respond = () => gate.promise;
    await ask(handle);
    cache.purge(['things']);
    next.respond = () => page(3);
    expect((await ask(handle)).text).toBe(JSON.stringify(pageOf([3])));
    gate.resolve(page(2));
    await until(() => background.length === 1);
    expect(background[0]?.cache?.stored).toBe(false);
    expect((await ask(handle)).text).toBe(JSON.stringify(pageOf([3])));
  });

  it('is refreshed even if no observer records it', async () => {
    const services = { cache, sharedPages: ownPages(clock), guard, noCacheRoles: [], clock };
    const handle = stageIn(cachePage({ ...services, recordTrace }), plannedWith({ cache: kept() }), next);
    await ask(handle);
    clock.advance(31);
    await ask(handle);
    await until(() => next.asked.length === 2);
    expect((await ask(handle)).reply.status).toBe(200);
  });
});

const expired = async (parts: PlannedParts = {}) => {
  const handle = cached(parts);
  await ask(handle);
  clock.advance(61);
  return handle;
};

describe('an expired page', () => {
  it('is fetched again before a reply is sent', async () => {
    const handle = await expired();
    next.respond = () => page(2);
    const { text, trace, cacheStatus } = await ask(handle);
    expect(text).toBe(JSON.stringify(pageOf([2])));
    expect(trace.cache).toMatchObject({ status: 'miss', reason: 'stale' });
    expect(cacheStatus).toBe('portico; fwd=stale; stored');
  });

  it.each(['upstream_error', 'upstream_timeout', 'upstream_circuit_open', 'upstream_invalid_response'] as const)(
    'replaces %s',
    async (code) => {
      const handle = await expired();
      failing(code, '');
      const { trace, cacheStatus, reply } = await ask(handle);
      expect(reply.status).toBe(200);
      expect(trace.cache).toEqual({
        status: 'stale',
        reason: 'stale-if-error',
        ageSeconds: 61,
        notStored: 'no-response',
      });
      expect(cacheStatus).toBe('portico; fwd=stale; ttl=-31; detail=stale-if-error');
    },
  );

  it.each([500, 503])('replaces a failure that was not translated: %i', async (status) => {
    const handle = await expired();
    next.respond = () => replyWith({ error: 'x' }, { status });
    expect((await ask(handle)).reply.status).toBe(200);
  });

  it('does not hide the refusal of the service account', async () => {
    const handle = await expired();
    failing('upstream_credentials_refused', '');
    expect((await failed(handle)).error).toMatchObject({ code: 'upstream_credentials_refused' });
  });

  // A page can expire between the second-level lookup and its use.
  it('is not served because another gateway has stored it, but only if the upstream fails', async () => {
    const planned = plannedWith({ cache: kept() });
    const claims: { readonly kind: string }[] = [];
    const claim: SharedPages['claim'] = () => {
      const entry = cache.lookup(pageKey(planned, exchangeWith()))?.entry;
      const shared = entry && { page: entry, at: { lineage: 'one', number: 1 } };
      const claimed = { kind: shared === undefined ? 'fetch' : 'page', shared, done: () => undefined } as const;
      claims.push(claimed);
      return Promise.resolve(claimed);
    };
    const sharedPages = { ...ownPages(clock), claim };
    const services = { cache, sharedPages, guard, noCacheRoles: [], clock, recordTrace };
    const handle = stageIn(cachePage(services), planned, next);
    await ask(handle);
    clock.advance(61);
    next.respond = () => page(2);
    expect((await ask(handle)).text).toBe(JSON.stringify(pageOf([2])));
    clock.advance(61);
    failing('upstream_error', '');
    expect((await ask(handle)).trace.cache).toMatchObject({ status: 'stale', reason: 'stale-if-error' });
    expect(claims.map(({ kind }) => kind)).toEqual(['fetch', 'page', 'page']);
  });

  it("does not hide a failure of Portico's own", async () => {
    const handle = await expired();
    next.respond = () => Promise.reject(new Error('unexpected'));
    expect((await failed(handle)).error).toMatchObject({ message: 'unexpected' });
  });

  it('does not replace an error beyond its stale-if-error limit', async () => {
    const handle = await expired();
    clock.advance(270);
    failing('upstream_error', '');
    expect((await failed(handle)).error).toMatchObject({ code: 'upstream_error' });
  });

  it('does not replace an error beyond its limit if it was stored during the failing fetch', async () => {
    const handle = cached({ cache: kept({ staleIfErrorSeconds: 0 }) });
    const gate = Promise.withResolvers<Reply>();
    next.respond = () => gate.promise;
    const slow = failed(handle);
    next.respond = () => page(2);
    await ask(handle);
    clock.advance(31);
    gate.reject(new GatewayError('upstream_error', ''));
    expect((await slow).error).toMatchObject({ code: 'upstream_error' });
  });

  it('does not replace an error after a purge during the fill', async () => {
    const handle = await expired();
    next.respond = () => {
      cache.purge(['things']);
      return Promise.reject(new GatewayError('upstream_error', ''));
    };
    expect((await failed(handle)).error).toMatchObject({ code: 'upstream_error' });
  });

  it.each([
    ['translated', () => Promise.reject(new GatewayError('upstream_permission_denied', ''))],
    ['with its own status', () => replyWith({ error: 'no' }, { status: 403 })],
  ])('does not replace a later error for a caller to whom the upstream has refused it (%s)', async (_how, respond) => {
    const handle = await expired();
    next.respond = respond;
    await handle(exchangeWith()).catch(() => undefined);
    failing('upstream_error', '');
    expect((await failed(handle)).error).toMatchObject({ code: 'upstream_error' });
  });
});

describe('a client that requests a fresh response', () => {
  const noCache: ExchangeParts = { arrival: arrivalWith({ headers: { 'cache-control': 'no-cache' } }) };

  it('is ignored without a permitted role', async () => {
    const handle = cached({}, ['reviewer']);
    await ask(handle);
    expect((await ask(handle, noCache)).trace.cache?.status).toBe('hit');
  });

  it('gets one with such a role, as do later callers', async () => {
    const handle = cached({}, ['reviewer']);
    await ask(handle);
    next.respond = () => page(2);
    const { trace, cacheStatus, text } = await ask(handle, { ...noCache, grants: grantsWith({ roles: ['reviewer'] }) });
    expect(text).toBe(JSON.stringify(pageOf([2])));
    expect(trace.cache).toEqual({ status: 'bypass', reason: 'no-cache', stored: true });
    expect(cacheStatus).toBe('portico; fwd=bypass; stored');
    expect((await ask(handle)).text).toBe(JSON.stringify(pageOf([2])));
  });

  it('counts as a bypass even if its fetch fails or was made by another request', async () => {
    const handle = cached({}, ['standard']);
    next.respond = () => ({ ...page(1), shared: true });
    expect((await ask(handle, noCache)).trace.cache?.status).toBe('bypass');
    failing('upstream_error', '');
    expect((await failed(handle, noCache)).trace.cache).toEqual({
      status: 'bypass',
      reason: 'no-cache',
      stored: false,
      notStored: 'no-response',
    });
  });
});

describe('a shared page', () => {
  const shared: PlannedParts = { cache: kept({ audience: 'public', assumeImpersonal: true }) };
  const asBob: ExchangeParts = { principal: callerNamed('bob'), audience: 'public' };
  const asAlice: ExchangeParts = { audience: 'public' };

  it("is compared with another caller's response under that caller's audience only", async () => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    const { trace } = await ask(handle, asBob);
    await until(() => background.length === 1);
    expect(next.asked[1]).toMatchObject({ audience: 'caller:verified:user:bob', principal: { name: 'bob' } });
    expect(trace.cache?.status).toBe('hit');
    expect([guard.isDemoted('listThings'), cache.stats().entries]).toEqual([false, 1]);
  });

  it('is compared completely even if the client served from memory has left', async () => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    await ask(handle, { ...asBob, clientGone: () => AbortSignal.abort() });
    await until(() => background.length === 1);
    expect(next.asked[1]?.clientGone).toBeUndefined();
  });

  it('is no longer shared if the two responses differ', async () => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    next.respond = () => page(2);
    await ask(handle, asBob);
    await until(() => background.length === 1);
    expect([guard.isDemoted('listThings'), cache.stats().entries]).toEqual([true, 0]);
  });

  it('is no longer shared if the upstream shows it to only one of the callers', async () => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    next.respond = ({ trace }) => {
      trace.upstream = { status: 401, shape: 'error', denied: true, seconds: 0, attempts: 1 };
      return Promise.reject(new GatewayError('upstream_permission_denied', ''));
    };
    await ask(handle, asBob);
    await until(() => background.length === 1);
    expect([guard.isDemoted('listThings'), cache.stats().entries]).toEqual([true, 0]);
    expect(background[0]?.error).toBe('upstream_permission_denied');
  });

  it.each([
    ['translated', () => Promise.reject(new GatewayError('upstream_timeout', ''))],
    ['with its own status', () => replyWith({ error: 'broken' }, { status: 500 })],
    ['streaming', () => ({ ...page(2), body: bodyOf() })],
  ])('remains shared if the comparison fails for another reason (%s)', async (_how, respond) => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    next.respond = respond;
    await ask(handle, asBob);
    await until(() => background.length === 1);
    expect([guard.isDemoted('listThings'), cache.stats().entries]).toEqual([false, 1]);
  });

  it('is not compared for the caller who fetched it, nor if pages are stored per caller', async () => {
    const sharing = cached(shared);
    await ask(sharing, asAlice);
    await ask(sharing, asAlice);
    const single = cached();
    await ask(single);
    await ask(single, { principal: callerNamed('bob') });
    expect(next.asked).toHaveLength(2);
    expect(background).toEqual([]);
  });

  // A list that has changed in the meantime would appear to depend on the caller.
  it('is not compared if it is stale', async () => {
    const handle = cached(shared);
    await ask(handle, asAlice);
    clock.advance(31);
    next.respond = () => page(2);
    expect((await ask(handle, asBob)).trace.cache?.status).toBe('stale');
    await until(() => background.length === 1);
    expect(next.asked).toHaveLength(2);
    expect([guard.isDemoted('listThings'), cache.stats().entries]).toEqual([false, 1]);
  });

  it('is not compared if a service account fetched it', async () => {
    const handle = cached({ ...shared, serviceCredential: true });
    await ask(handle, asAlice);
    await ask(handle, asBob);
    expect(next.asked).toHaveLength(1);
  });
});

const stage = () => {
  const services = {
    cache,
    sharedPages: ownPages(clock),
    guard,
    noCacheRoles: [],
    clock,
    recordTrace: (trace: Trace) => void background.push(trace),
  };
  const handle = cachePage(services).plan(plannedWith({ cache: kept() }))?.(next.handle);
  if (handle === undefined) throw new Error('no work');
  return handle;
};

const undecoded = () => {
  throw new Error('decoded');
};

describe('a page in memory', () => {
  it('is served synchronously, fresh or stale, under its storage key', async () => {
    const handle = stage();
    const missed = handle(exchangeWith());
    expect(missed).toBeInstanceOf(Promise);
    expect((await missed).storedAs).toBeUndefined();
    for (const seconds of [0, 31]) {
      clock.advance(seconds);
      const hit = handle(exchangeWith());
      if (hit instanceof Promise) throw new Error('a promise');
      expect(hit.status).toBe(200);
      expect(cache.lookup(hit.storedAs ?? '')?.entry.body).toBe(hit.body);
    }
    await until(() => background.length === 1);
  });

  it('has the same bytes for all callers, so that its gzip form can be found by them', async () => {
    const handle = stage();
    await handle(exchangeWith());
    const replies = await Promise.all([handle(exchangeWith()), handle(exchangeWith())]);
    expect(replies[0].body).toBe(replies[1].body);
  });

  it('needs no decoded parameters', async () => {
    const handle = stage();
    await handle(exchangeWith());
    expect(handle({ ...exchangeWith(), values: undecoded })).toMatchObject({ status: 200 });
  });

  it('names the headers that vary it for downstream caches, on a miss and on a hit', async () => {
    const handle = stage();
    for (const reply of [await handle(exchangeWith()), await handle(exchangeWith())])
      expect(headerValue(reply.headers, 'vary')).toBe('Accept-Encoding');
  });

  it('keeps its key when it replaces an upstream failure', async () => {
    const handle = stage();
    await handle(exchangeWith());
    clock.advance(61);
    failing('upstream_error', '');
    const { storedAs, body } = await handle(exchangeWith());
    expect(cache.lookup(storedAs ?? '')?.entry.body).toBe(body);
  });
});
