import { etagOf } from '../cache/etag.ts';
import type { CacheLookup } from '../cache/page-cache.ts';
import { type CacheOutcome, cacheStatus, CLIENT_CACHE_HEADERS, storedHeaders } from '../cache/response-headers.ts';
import { createRecentTexts } from '../lib/recent-texts.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import type { Reply } from './reply.ts';

const ageText = createRecentTexts(String);

/** The reply that a kept page is. */
export function storedReply(key: string, { entry, ageSeconds }: CacheLookup, outcome: CacheOutcome): Reply {
  return {
    status: entry.status,
    headers: [
      ...entry.headers,
      ...CLIENT_CACHE_HEADERS,
      ['Age', ageText(ageSeconds)],
      ['Cache-Status', cacheStatus(outcome)],
    ],
    body: entry.body,
    etag: entry.etag,
    storedAs: key,
    pageCount: entry.pageCount,
  };
}

/** A fetched reply with what the cache has to say of it. */
export function withCacheStatus(reply: Reply, outcome: CacheOutcome): Reply {
  // A miss looks like the hit that follows it. None follows a body whose coding could not be taken off: its header stays with it.
  const storable = reply.status === 200 && headerValue(reply.headers, 'content-encoding') === undefined;
  const kept = storable ? storedHeaders(reply.headers) : visibleHeaders(reply.headers);
  const headers = [...kept, ...CLIENT_CACHE_HEADERS, ['Cache-Status', cacheStatus(outcome)] as const];
  return { ...reply, headers };
}

/** The reply with the entity tag that the stored page and the client both get. */
export function tagged(reply: Reply): Reply {
  if (reply.status !== 200 || !Buffer.isBuffer(reply.body) || reply.etag !== undefined) return reply;
  return { ...reply, etag: etagOf(reply.body) };
}

/**
 * Fields of a documented answer that reach the client. Cookies, validators, freshness and the name of the upstream's
 * software do not: Portico answers for those itself (rules, 2 and 6). A challenge and a
 * `Location` get here with legacy errors only, a content coding only where it could not be taken off.
 */
const VISIBLE =
  /^(?:content-type|content-encoding|location|content-language|link|retry-after|deprecation|sunset|www-authenticate|portico-redacted)$/i;

/** Takes away every field of an upstream's answer that clients of a documented operation do not get. */
export function visibleHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => VISIBLE.test(name));
}
