import { type CacheOutcome, cacheStatus } from '../cache/cache-status.ts';
import { CLIENT_CACHE_HEADERS } from '../cache/stored-page.ts';
import { etagOf } from '../cache/representation.ts';
import type { CacheLookup } from '../cache/memory-pages.ts';
import { headerValue } from '../model/header-pairs.ts';
import type { PlannedOperation } from './stage.ts';
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
