import { type CacheOutcome, cacheStatus } from '../cache/cache-status.ts';
import { audienceOf, cacheKey, CLIENT_CACHE_HEADERS } from '../cache/stored-page.ts';
import { etagOf } from '../cache/representation.ts';
import { freshnessFor, storeRefusal, upstreamAge } from '../cache/may-store.ts';
import type { CacheLookup, Fill, PageCache } from '../cache/memory-pages.ts';
import type { Clock } from '../../lib/clock.ts';
import type { StoreRefusal } from '../model/trace.ts';
import { contentType, headerValue, mediaTypeOf } from '../model/header-pairs.ts';
import type { Exchange, TargetKeys } from './exchange.ts';
import type { PlannedOperation, StoredOperation } from './stage.ts';
import type { Reply } from './reply.ts';

/** Creates the reply that serves a stored page. */
export function storedReply(key: string, { entry, ageSeconds }: CacheLookup, outcome: CacheOutcome): Reply {
  return {
    status: entry.status,
    headers: [
      ...entry.headers,
      ...CLIENT_CACHE_HEADERS,
      ['Age', String(ageSeconds)],
      ['Cache-Status', cacheStatus(outcome)],
    ],
    body: entry.body,
    etag: entry.etag,
    storedAs: key,
    pageCount: entry.pageCount,
  };
}

/** Returns a fetched reply with its cache status. */
export function withCacheStatus({ responseHeaders }: PlannedOperation, reply: Reply, outcome: CacheOutcome): Reply {
  // The reply to a miss has the same headers as the reply to a later hit, unless the response's content coding could
  // not be removed. In that case, the response is not stored and its `Content-Encoding` header is forwarded.
  const storable = reply.status === 200 && headerValue(reply.headers, 'content-encoding') === undefined;
  const remaining = storable ? responseHeaders.stored(reply.headers) : responseHeaders.visible(reply.headers);
  const headers = [...remaining, ...CLIENT_CACHE_HEADERS, ['Cache-Status', cacheStatus(outcome)] as const];
  return { ...reply, headers };
}

/** Adds the entity tag that is stored with the page and sent to the client. */
export function tagged(reply: Reply): Reply {
  if (reply.status !== 200 || !Buffer.isBuffer(reply.body) || reply.etag !== undefined) return reply;
  return { ...reply, etag: etagOf(reply.body) };
}

/** The dependencies of `storePage`, and the key of the page to store. */
interface StorePlace {
  readonly cache: PageCache;
  readonly fill: Fill;
  readonly key: string;
  readonly clock: Clock;
}

/** Stores a response if the rules allow it (docs/rules.md §6). Otherwise, returns the reason. */
export function storePage(
  planned: StoredOperation,
  exchange: Exchange,
  reply: Reply,
  place: StorePlace,
): StoreRefusal | undefined {
  const { cache: options, operation } = planned;
  const { facts, headers, body } = reply;
  if (facts === undefined || !Buffer.isBuffer(body)) return 'unread';
  const receivedAt = place.clock();
  const type = contentType(headers);
  const refusal = storeRefusal({
    status: reply.status,
    headers,
    mediaType: type === undefined ? undefined : mediaTypeOf(type),
    isEnvelope: facts.body.isOuterForm,
    hasTopLevelError: facts.body.hasTopLevelError,
    validity: facts.validity,
    options,
    receivedAt,
  });
  if (refusal !== undefined) return refusal;
  const ownAudience = audienceOf('caller', exchange.principal, undefined, false);
  return place.cache.store(place.key, place.fill, {
    headers: planned.responseHeaders.stored(headers),
    body,
    ...(reply.etag === undefined ? {} : { etag: reply.etag }),
    freshness: freshnessFor(headers, options, receivedAt),
    tags: facts.body.tags,
    ...(reply.pageCount === undefined ? {} : { pageCount: reply.pageCount }),
    carriesPrivate: operation.privateFields !== undefined,
    validity: facts.validity,
    ...(planned.serviceCredential && !exchange.delegated ? {} : { filledBy: ownAudience }),
    ageSeconds: upstreamAge(headers),
  });
}

/**
 * Returns the key for a stored page. It consists of the page version, the operation, the audience and the exact
 * upstream target (docs/rules.md §6).
 */
export function pageKey({ operation, pageVersion }: PlannedOperation, exchange: Exchange): string {
  const { audience, target: upstreamTarget, requestedPage } = exchange;
  const keys = keysOf(exchange);
  if (keys.page !== undefined) return keys.page;
  // If the target has no page number, both keys consist of the same characters. If one string object is used for
  // both, V8 computes the hash only once.
  const list = upstreamTarget === requestedPage.listTarget ? keys.list : undefined;
  const key = list ?? cacheKey({ pageVersion, operationId: operation.id, audience, upstreamTarget });
  keys.page = key;
  return key;
}

/** Returns the key for a remembered page count: the page key without the page number (docs/rules.md §5). */
export function pageCountKey({ operation, pageVersion }: PlannedOperation, exchange: Exchange): string {
  const { audience, requestedPage } = exchange;
  const { listTarget: upstreamTarget } = requestedPage;
  const keys = keysOf(exchange);
  return (keys.list ??= cacheKey({ pageVersion, operationId: operation.id, audience, upstreamTarget }));
}

/** Returns the keys remembered for the target. If they belong to another audience, clears them first. */
function keysOf({ keys, audience }: Exchange): TargetKeys {
  if (keys === undefined) return { audience, page: undefined, list: undefined };
  if (keys.audience === audience) return keys;
  keys.audience = audience;
  keys.page = undefined;
  keys.list = undefined;
  return keys;
}
