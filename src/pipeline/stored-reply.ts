import { etagOf } from '../cache/etag.ts';
import type { CacheLookup } from '../cache/page-cache.ts';
import { type CacheOutcome, cacheStatus, CLIENT_CACHE_HEADERS, storedHeaders } from '../cache/response-headers.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import type { Reply } from './reply.ts';

/** Returns the reply for a stored page. */
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
export function withCacheStatus(reply: Reply, outcome: CacheOutcome): Reply {
  // A miss has the same headers as a later hit. A response whose content coding could not be decoded is never stored,
  // so it keeps its `Content-Encoding` header.
  const storable = reply.status === 200 && headerValue(reply.headers, 'content-encoding') === undefined;
  const kept = storable ? storedHeaders(reply.headers) : visibleHeaders(reply.headers);
  const headers = [...kept, ...CLIENT_CACHE_HEADERS, ['Cache-Status', cacheStatus(outcome)] as const];
  return { ...reply, headers };
}

/** Returns the reply with the entity tag that both the stored page and the client receive. */
export function tagged(reply: Reply): Reply {
  if (reply.status !== 200 || !Buffer.isBuffer(reply.body) || reply.etag !== undefined) return reply;
  return { ...reply, etag: etagOf(reply.body) };
}

/**
 * Headers of a documented response that are passed to the client. The upstream's cookies, validators, freshness headers
 * and software name are removed, because Portico is responsible for them (rules, 2 and 6). A challenge and a `Location`
 * header occur only with legacy errors, and `Content-Encoding` only if the body could not be decoded.
 */
const VISIBLE =
  /^(?:content-type|content-encoding|location|content-language|link|retry-after|deprecation|sunset|www-authenticate|portico-redacted)$/i;

/** Returns the headers of an upstream response that clients of a documented operation may receive. */
export function visibleHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => VISIBLE.test(name));
}
