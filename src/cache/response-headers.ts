import { boundedMemo } from '../lib/bounded-memo.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';

/** The outcome of the cache for one request. */
export type CacheOutcome =
  /** `ttlSeconds` is negative when the page was served stale. */
  | { readonly kind: 'hit'; readonly ttlSeconds: number }
  | {
      readonly kind: 'forward';
      readonly because: 'miss' | 'stale' | 'bypass';
      /** The upstream's status, if the client received a different one. */
      readonly upstreamStatus?: number;
      readonly stored?: boolean;
      /** True if the response came from another request's exchange. */
      readonly collapsed?: boolean;
      /** Set if a stored page was served after all. */
      readonly ttlSeconds?: number;
      /** A short token with details, for example `stale-if-error`. */
      readonly detail?: string;
    };

const MAX_TEXTS = 64;

// Few numbers of seconds occur, and Node writes a text that is already in one piece faster.
const hitText = boundedMemo(MAX_TEXTS, (ttlSeconds: number) => `portico; hit; ttl=${ttlSeconds}`);

/** Returns the value of `Cache-Status` (RFC 9211). */
export function cacheStatus(outcome: CacheOutcome): string {
  if (outcome.kind === 'hit') return hitText(Math.floor(outcome.ttlSeconds));
  const parts = ['portico', `fwd=${outcome.because}`];
  if (outcome.upstreamStatus !== undefined) parts.push(`fwd-status=${outcome.upstreamStatus}`);
  if (outcome.ttlSeconds !== undefined) parts.push(`ttl=${Math.floor(outcome.ttlSeconds)}`);
  if (outcome.stored === true) parts.push('stored');
  if (outcome.collapsed === true) parts.push('collapsed');
  if (outcome.detail !== undefined) parts.push(`detail=${outcome.detail}`);
  return parts.join('; ');
}

// An allowlist, because an unknown header may identify the caller.
const STORED_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-language', 'link']);

/** Returns the headers that are stored with a page. A miss sends the same ones, so that hit and miss look the same. */
export function storedHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => STORED_HEADERS.has(name.toLowerCase()));
}

/** The headers for pages that the gateway may store: clients may store them privately and must revalidate (rules, 6). */
export const CLIENT_CACHE_HEADERS: HeaderPairs = [
  ['Cache-Control', 'private, no-cache'],
  // Stored pages have a gzip form.
  ['Vary', 'Accept-Encoding'],
];
