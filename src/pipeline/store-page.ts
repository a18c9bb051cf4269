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

/** Where and under what a page would be kept. */
interface StorePlace {
  readonly cache: PageCache;
  readonly fill: Fill;
  readonly key: string;
  readonly clock: Clock;
}

/** Keeps an answer when the rules allow it (rules, 6); true when it was stored. */
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

/** The key that a page is kept under: operation, audience, contract and the exact target that is sent (rules, 6). */
export function pageKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, target: upstreamTarget } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget });
}

/** The key that a page count is learned under: that of the page without its number (rules, 5). */
export function pageCountKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, asked } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget: asked.listTarget });
}
