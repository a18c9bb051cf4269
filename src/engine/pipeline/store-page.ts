import { audienceOf } from '../cache/stored-page.ts';
import { freshnessFor, storeRefusal, upstreamAge } from '../cache/may-store.ts';
import type { Fill, PageCache } from '../cache/memory-pages.ts';
import type { Clock } from '../../lib/clock.ts';
import type { StoreRefusal } from '../model/trace.ts';
import { contentType, mediaTypeOf } from '../model/header-pairs.ts';
import type { Exchange } from './exchange.ts';
import type { StoredOperation } from './stage.ts';
import type { Reply } from './reply.ts';

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
