import { audienceOf } from '../cache/audience.ts';
import { cacheKey } from '../cache/cache-key.ts';
import { freshnessFor, upstreamAge } from '../cache/freshness-for.ts';
import { mayStore } from '../cache/may-store.ts';
import type { Fill, PageCache } from '../cache/page-cache.ts';
import type { Clock } from '../lib/clock.ts';
import { headerValue } from '../model/header-pairs.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/** The cache and the key for storing a page. */
interface StorePlace {
  readonly cache: PageCache;
  readonly fill: Fill;
  readonly key: string;
  readonly clock: Clock;
}

/** Stores a response if the rules allow it (rules, 6). Returns whether it was stored. */
export function storePage(planned: PlannedOperation, exchange: Exchange, reply: Reply, place: StorePlace): boolean {
  const { cache: options, operation } = planned;
  const { facts, headers, body } = reply;
  if (options === undefined || facts === undefined || !Buffer.isBuffer(body)) return false;
  const receivedAt = place.clock();
  const decision = mayStore({
    status: reply.status,
    headers,
    mediaType: headerValue(headers, 'content-type')?.split(';')[0]?.trim().toLowerCase(),
    isEnvelope: facts.body.isOuterForm,
    hasTopLevelError: facts.body.hasTopLevelError,
    validity: facts.validity,
    options,
    receivedAt,
  });
  if (!decision.store) return false;
  const ownAudience = audienceOf('caller', exchange.principal, undefined, false);
  return place.cache.store(place.key, place.fill, {
    headers,
    body,
    ...(reply.etag === undefined ? {} : { etag: reply.etag }),
    freshness: freshnessFor(headers, options, receivedAt),
    tags: facts.body.tags,
    ...(reply.pageCount === undefined ? {} : { pageCount: reply.pageCount }),
    carriesPrivate: operation.carriesPrivateFields,
    validity: facts.validity,
    ...(planned.serviceCredential && !exchange.delegated ? {} : { filledBy: ownAudience }),
    ageSeconds: upstreamAge(headers),
  });
}

/**
 * Returns the key of a stored page: the operation, the audience, the contract and the exact upstream target (rules, 6).
 */
export function pageKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, target: upstreamTarget } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget });
}

/** Returns the key of a remembered page count, which is the page key without the page number (rules, 5). */
export function pageCountKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, asked } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget: asked.listTarget });
}
