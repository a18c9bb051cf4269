import type { AudienceGuard } from '../../cache/audience-guard.ts';
import { audienceOf } from '../../cache/stored-page.ts';
import { etagOf } from '../../cache/representation.ts';
import { longestFreshness, mayBypass } from '../../cache/may-store.ts';
import type { CacheLookup, PageCache } from '../../cache/memory-pages.ts';
import type { SharedPages } from '../../cache/shared-pages.ts';
import { tagsOf } from '../../cache/tags.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type CacheTrace, createTrace, type StoreRefusal, type Trace } from '../../model/trace.ts';
import type { Exchange } from '../exchange.ts';
import { pageKey } from '../page-key.ts';
import { storedReply, tagged, withCacheStatus } from '../stored-reply.ts';
import { storePage } from '../store-page.ts';
import type { Reply } from '../reply.ts';
import type { Handler, StagePlanner, StoredOperation } from '../stage.ts';

/** The services that the `cache-page` stage needs. */
export interface CachePageServices {
  readonly cache: PageCache;
  /** The second cache level: the pages that gateways share. */
  readonly sharedPages: SharedPages;
  readonly guard: AudienceGuard;
  readonly noCacheRoles: readonly string[];
  /**
   * The final fraction of a shared page's freshness lifetime. During this time, one gateway refreshes the page early.
   */
  readonly earlyRefresh?: number;
  readonly clock: Clock;
  /** Records the trace of a background request. */
  readonly recordTrace: (trace: Trace) => void;
}

/**
 * Serves pages of lists from the cache. A stale page is served while it is being refreshed in the background and when
 * the upstream fails.
 */
export function cachePage(services: CachePageServices): StagePlanner {
  return {
    name: 'cache-page',
    plan(planned) {
      const { cache } = planned;
      return cache && ((next) => createCachePageHandler({ ...planned, cache }, services, next));
    },
  };
}

function createCachePageHandler(planned: StoredOperation, services: CachePageServices, next: Handler): Handler {
  const { cache, sharedPages, earlyRefresh = 0 } = services;
  const { operation } = planned;
  const longest = longestFreshness(planned.cache);
  const refreshing = new Set<string>();

  const fetchPage = async (exchange: Exchange, key: string): Promise<Reply> => {
    try {
      return await next(exchange);
    } catch (error) {
      if (error instanceof GatewayError && disprovesPage(error.status)) cache.drop(key);
      throw error;
    }
  };

  const fill = async (exchange: Exchange, key: string, because: Because): Promise<Reply> => {
    const { trace } = exchange;
    const bypassed = because === 'bypass';
    const requested: CacheTrace = { status: bypassed ? 'bypass' : 'miss', reason: bypassed ? 'no-cache' : because };
    trace.cache = { ...requested, stored: false };
    const began = cache.beginFill(tagsOf(operation.cacheability?.tags ?? [], exchange.values().path));
    // Other callers may be waiting for the same page, so the fetch continues even when this client disconnects.
    const reply = tagged(
      await fetchPage({ ...exchange, clientGone: undefined }, key).catch((error: unknown) => {
        // If another request fetched the page, that request's trace states why it is not stored.
        if (trace.cache?.status !== 'coalesced')
          trace.cache = { ...requested, stored: false, notStored: refusalFor(error, trace) };
        throw error;
      }),
    );
    if (disprovesPage(reply.status)) cache.drop(key);
    const collapsed = reply.shared === true;
    const place = { cache, fill: began, key, clock: services.clock };
    const notStored = collapsed ? undefined : storePage(planned, exchange, reply, place);
    const stored = !collapsed && notStored === undefined;
    const why = notStored === undefined ? {} : { notStored };
    trace.cache = { ...requested, ...(collapsed && !bypassed ? { status: 'coalesced' } : {}), stored, ...why };
    const detail = notStored === undefined ? {} : { detail: notStored };
    return withCacheStatus(planned, reply, { kind: 'forward', because, stored, collapsed, ...detail });
  };

  const background = (exchange: Exchange, work: (exchange: Exchange) => Promise<unknown>, done: () => void) => {
    const { requestId, traceparent, method } = exchange.trace;
    const trace = createTrace({ requestId, traceparent, method, startedAt: services.clock() });
    trace.operation = operation.id;
    trace.side = exchange.trace.side;
    trace.background = true;
    work({ ...exchange, trace, clientGone: undefined })
      .catch((error: unknown) => {
        trace.error = error instanceof GatewayError ? error.code : 'internal_error';
        if (!(error instanceof GatewayError)) trace.cause = error;
      })
      .finally(() => {
        done();
        services.recordTrace(trace);
      })
      .catch(() => undefined);
  };

  const refresh = (exchange: Exchange, key: string) => {
    if (refreshing.has(key)) return;
    refreshing.add(key);
    const end = () => void refreshing.delete(key);
    const fetchStale = (done: () => void) => background(exchange, (copy) => fill(copy, key, 'stale'), done);
    const newerThan = cache.lookup(key)?.entry.storedAt ?? -Infinity;
    const claim = sharedPages.claim(key, { mayWait: false, newerThan, longest });
    if (claim === undefined) fetchStale(end);
    else refreshOnce(key, claim, fetchStale, end).catch(end);
  };

  /**
   * Uses the page if another gateway has just fetched it. Otherwise, fetches the page unless another gateway is already
   * doing so.
   */
  const refreshOnce = async (key: string, claim: Claimed, fetchStale: (done: () => void) => void, end: () => void) => {
    const { kind, shared, done } = await claim;
    if (kind === 'busy') {
      setTimeout(end, BUSY_MS).unref();
    } else if (kind === 'page' && shared !== undefined && cache.adopt(key, shared) !== undefined) {
      end();
    } else {
      fetchStale(() => {
        end();
        done();
      });
    }
  };

  /** Occasionally fetches the caller's own copy of a shared page to verify that all callers receive the same page. */
  const compare = (exchange: Exchange, { entry }: CacheLookup) => {
    const { filledBy } = entry;
    const caller = audienceOf('caller', exchange.principal, undefined, false);
    const stored = filledBy === undefined ? undefined : { caller: filledBy, etag: entry.etag };
    if (stored === undefined || !services.guard.shouldCompare(operation.id, stored, caller)) return;
    const differs = (etag: string) => {
      if (services.guard.compare(operation.id, stored, { caller, etag }) === 'differs') cache.purgeAll();
    };
    const work = async (copy: Exchange) => {
      try {
        const reply = await next({ ...copy, audience: caller });
        if (reply.status === 200 && Buffer.isBuffer(reply.body)) differs(etagOf(reply.body));
      } finally {
        // A refusal always counts as a difference, because it means that only one of the two callers may see the page.
        // The empty tag ensures this, because no page has an empty entity tag.
        if (copy.trace.upstream?.denied === true) differs('');
      }
    };
    background(exchange, work, () => undefined);
  };

  const fillOrServeStale = async (exchange: Exchange, key: string, found: CacheLookup | undefined): Promise<Reply> => {
    const because = found === undefined ? 'miss' : 'stale';
    try {
      const reply = await fill(exchange, key, because);
      return reply.status >= 500 ? (serveStale(key, cache.lookup(key), exchange) ?? reply) : reply;
    } catch (error) {
      const page = mayServeStaleOn(error) ? serveStale(key, cache.lookup(key), exchange) : undefined;
      if (page === undefined) throw error;
      return page;
    }
  };

  /** Serves a page that another gateway has fetched, or fetches it on behalf of all gateways. */
  const fillOnce = async (exchange: Exchange, key: string, claim: Claimed): Promise<Reply> => {
    const { kind, shared, done } = await claim;
    const found = shared === undefined ? cache.lookup(key) : cache.adopt(key, shared);
    if (kind === 'page' && found !== undefined && found.state !== 'expired')
      return serveFound(exchange, key, found, 'shared');
    try {
      return await fillOrServeStale(exchange, key, found);
    } finally {
      done();
    }
  };
  const fetchMissing: typeof fillOrServeStale = (exchange, key, found) => {
    const claim = sharedPages.claim(key, { mayWait: true, longest });
    return claim === undefined ? fillOrServeStale(exchange, key, found) : fillOnce(exchange, key, claim);
  };

  const isDueSoon = isStaleSoon(earlyRefresh, services.clock);
  /** A page that others use, too, is refreshed before it is stale. */
  const needsRefresh = (found: CacheLookup) =>
    found.state === 'stale' || (earlyRefresh > 0 && sharedPages.isShared() && isDueSoon(found));

  const serveFound = (exchange: Exchange, key: string, found: CacheLookup, kind: 'hit' | 'shared'): Reply => {
    const { state, ageSeconds, ttlSeconds } = found;
    if (needsRefresh(found)) refresh(exchange, key);
    else if (planned.cache?.audience !== 'caller') compare(exchange, found);
    const status = state === 'fresh' ? 'hit' : 'stale';
    exchange.trace.cache = kind === 'hit' ? { status, ageSeconds } : { status, ageSeconds, shared: true };
    return storedReply(key, found, { kind, ttlSeconds });
  };

  const handle: Handler = (exchange) => {
    const key = pageKey(planned, exchange);
    if (services.noCacheRoles.length > 0 && bypasses(exchange, services.noCacheRoles))
      return fill(exchange, key, 'bypass');
    const found = cache.lookup(key);
    if (found === undefined || found.state === 'expired') return fetchMissing(exchange, key, found);
    return serveFound(exchange, key, found, 'hit');
  };
  const { forceStale } = planned;
  if (forceStale === undefined) return handle;
  return (exchange) => {
    const key = pageKey(planned, exchange);
    const isOver = services.clock() >= forceStale.until;
    const found = isOver ? undefined : cache.lookupStale(key, forceStale.maxStaleSeconds);
    return found === undefined ? handle(exchange) : serveForced(key, found, exchange);
  };
}

type Claimed = NonNullable<ReturnType<SharedPages['claim']>>;

/**
 * Returns a function that checks whether a page is stale or soon will be. "Soon" means in the final fraction of the
 * freshness lifetime. Each gateway chooses a random fraction between half of `share` and all of `share`, so that the
 * gateways do not all request the lock at the same time.
 */
function isStaleSoon(share: number, clock: Clock): (found: CacheLookup) => boolean {
  const ownShare = share * (0.5 + Math.random() / 2);
  return ({ entry: { freshUntilAt, storedAt } }) => freshUntilAt - clock() < (freshUntilAt - storedAt) * ownShare;
}

/**
 * How long to wait before trying again to refresh a page that another gateway is already refreshing, in milliseconds.
 */
const BUSY_MS = 250;

/** Serves a stored page because of an override, without refreshing or comparing it. */
function serveForced(key: string, found: CacheLookup, { trace }: Exchange): Reply {
  const { ageSeconds, ttlSeconds, state } = found;
  if (state === 'fresh') {
    trace.cache = { status: 'hit', ageSeconds };
    return storedReply(key, found, { kind: 'hit', ttlSeconds });
  }
  trace.cache = { status: 'stale', reason: 'force-stale', ageSeconds };
  return storedReply(key, found, { kind: 'forced', ttlSeconds });
}

function bypasses({ arrival: { headers }, grants }: Exchange, noCacheRoles: readonly string[]): boolean {
  return mayBypass({ cacheControl: headers['cache-control'], pragma: headers.pragma }, grants.roles, noCacheRoles);
}

/** Returns why there is no response to store, given the error with which the fetch ended. */
function refusalFor(error: unknown, { upstream }: Trace): StoreRefusal {
  if (upstream?.status === undefined) return 'no-response';
  if (upstream.status >= 300 || !(error instanceof GatewayError)) return 'status';
  return error.code === 'upstream_invalid_response' ? 'validity' : 'error-inside';
}

/** The reason for forwarding the request upstream, in RFC 9211 terms. */
type Because = 'miss' | 'stale' | 'bypass';

/**
 * Returns whether a status means that this audience may not see the page. In that case, the stored copy must not be
 * served again, even when the upstream fails later.
 */
function disprovesPage(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/**
 * Returns whether a stale page may be served after this error (RFC 5861 §4). If the upstream refused the service
 * account, the client must receive the error instead.
 */
function mayServeStaleOn(error: unknown): boolean {
  return error instanceof GatewayError && error.status >= 500 && error.code !== 'upstream_credentials_refused';
}

function serveStale(key: string, found: CacheLookup | undefined, { trace }: Exchange): Reply | undefined {
  if (found?.mayServeOnError !== true) return undefined;
  const { notStored } = trace.cache ?? {};
  const why = notStored === undefined ? {} : { notStored };
  trace.cache = { status: 'stale', reason: 'stale-if-error', ageSeconds: found.ageSeconds, ...why };
  return storedReply(key, found, {
    kind: 'forward',
    because: 'stale',
    ttlSeconds: found.ttlSeconds,
    detail: 'stale-if-error',
  });
}
