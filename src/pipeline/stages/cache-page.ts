import { type AudienceGuard, audienceOf } from '../../cache/audience.ts';
import { etagOf } from '../../cache/etag.ts';
import { mayBypass } from '../../cache/cache-control.ts';
import type { CacheLookup, PageCache } from '../../cache/page-cache.ts';
import { tagsOf } from '../../cache/tags.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type CacheTrace, createTrace, type Trace } from '../../model/trace.ts';
import type { Exchange } from '../exchange.ts';
import { storePage, pageKey } from '../store-page.ts';
import { storedReply, tagged, withCacheStatus } from '../stored-reply.ts';
import type { PlannedOperation } from '../planned-operation.ts';
import type { Reply } from '../reply.ts';
import type { Handler, StagePlanner } from '../stage.ts';

/** What the stage needs from the rest of the gateway. */
export interface CachePageServices {
  readonly cache: PageCache;
  readonly guard: AudienceGuard;
  readonly noCacheRoles: readonly string[];
  readonly contractVersion: string;
  readonly clock: Clock;
  /** Records the trace of work that no client waits for. */
  readonly recordBackground: (trace: Trace) => void;
}

/** Answers list pages from memory, refreshes stale ones behind the client's back and lets them stand in for a failing upstream. */
export function cachePage(services: CachePageServices): StagePlanner {
  return {
    name: 'cache-page',
    plan(planned) {
      if (planned.cache === undefined) return undefined;
      return (next) => createCachePageHandler(planned, services, next);
    },
  };
}

function createCachePageHandler(planned: PlannedOperation, services: CachePageServices, next: Handler): Handler {
  const { cache, contractVersion } = services;
  const { operation } = planned;
  const refreshing = new Set<string>();

  const answer = async (exchange: Exchange, key: string): Promise<Reply> => {
    try {
      return await next(exchange);
    } catch (error) {
      if (error instanceof GatewayError && isRefusal(error.status)) cache.drop(key);
      throw error;
    }
  };

  const fill = async (exchange: Exchange, key: string, because: Because): Promise<Reply> => {
    const { trace } = exchange;
    const bypassed = because === 'bypass';
    const asked: CacheTrace = { status: bypassed ? 'bypass' : 'miss', reason: bypassed ? 'no-cache' : because };
    trace.cache = { ...asked, stored: false };
    const began = cache.beginFill(tagsOf(operation.cacheability?.tags ?? [], exchange.values().path));
    // Others may be waiting for the same page, so it does not end with this client's connection.
    const reply = tagged(await answer({ ...exchange, clientGone: undefined }, key));
    if (isRefusal(reply.status)) cache.drop(key);
    const collapsed = reply.shared === true;
    const stored =
      !collapsed && storePage(planned, exchange, reply, { cache, fill: began, key, clock: services.clock });
    trace.cache = { ...asked, ...(collapsed && !bypassed ? { status: 'coalesced' } : {}), stored };
    return withCacheStatus(reply, { kind: 'forward', because, stored, collapsed });
  };

  const background = (exchange: Exchange, work: (exchange: Exchange) => Promise<unknown>, done: () => void) => {
    const { requestId, traceparent, method } = exchange.trace;
    const trace = createTrace({ requestId, traceparent, method, startedAt: services.clock() });
    trace.operation = operation.id;
    trace.background = true;
    work({ ...exchange, trace, clientGone: undefined })
      .catch((error: unknown) => {
        trace.error = error instanceof GatewayError ? error.code : 'internal_error';
        if (!(error instanceof GatewayError)) trace.cause = error;
      })
      .finally(() => {
        done();
        services.recordBackground(trace);
      })
      .catch(() => undefined);
  };

  const refresh = (exchange: Exchange, key: string) => {
    if (refreshing.has(key)) return;
    refreshing.add(key);
    background(
      exchange,
      (copy) => fill(copy, key, 'stale'),
      () => refreshing.delete(key),
    );
  };

  /** Fetches the caller's own answer now and then, to see that a shared page really is the same for everybody. */
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
        // No entity has this tag: what one caller is shown and the other is not differs however it looks.
        if (copy.trace.upstream?.denied === true) differs('');
      }
    };
    background(exchange, work, () => undefined);
  };

  const fillOrStandIn = async (exchange: Exchange, key: string, found: CacheLookup | undefined): Promise<Reply> => {
    const because = found === undefined ? 'miss' : 'stale';
    try {
      const reply = await fill(exchange, key, because);
      return reply.status >= 500 ? (standIn(key, cache.lookup(key), exchange) ?? reply) : reply;
    } catch (error) {
      const page = mayStandIn(error) ? standIn(key, cache.lookup(key), exchange) : undefined;
      if (page === undefined) throw error;
      return page;
    }
  };

  return (exchange) => {
    const key = pageKey(planned, exchange, contractVersion);
    if (services.noCacheRoles.length > 0 && bypasses(exchange, services.noCacheRoles))
      return fill(exchange, key, 'bypass');
    const found = cache.lookup(key);
    if (found === undefined || found.state === 'expired') return fillOrStandIn(exchange, key, found);
    if (found.state === 'stale') refresh(exchange, key);
    else if (planned.cache?.audience !== 'caller') compare(exchange, found);
    exchange.trace.cache = { status: found.state === 'fresh' ? 'hit' : 'stale', ageSeconds: found.ageSeconds };
    return storedReply(key, found, { kind: 'hit', ttlSeconds: found.ttlSeconds });
  };
}

function bypasses({ arrival: { headers }, grants }: Exchange, noCacheRoles: readonly string[]): boolean {
  return mayBypass({ cacheControl: headers['cache-control'], pragma: headers.pragma }, grants.roles, noCacheRoles);
}

/** Why the upstream is asked, in the words of RFC 9211. */
type Because = 'miss' | 'stale' | 'bypass';

/**
 * By such an answer the upstream takes the page back from this audience, so that what is kept of it must neither be
 * served stale nor stand in later.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Failures that a stale page may hide (RFC 5861, 4); a refused service account must be heard of. */
function mayStandIn(error: unknown): boolean {
  return error instanceof GatewayError && error.status >= 500 && error.code !== 'upstream_credentials_refused';
}

function standIn(key: string, found: CacheLookup | undefined, { trace }: Exchange): Reply | undefined {
  if (found?.mayServeOnError !== true) return undefined;
  trace.cache = { status: 'stale', reason: 'stale-if-error', ageSeconds: found.ageSeconds };
  return storedReply(key, found, {
    kind: 'forward',
    because: 'stale',
    ttlSeconds: found.ttlSeconds,
    detail: 'stale-if-error',
  });
}
