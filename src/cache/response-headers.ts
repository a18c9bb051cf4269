import { createRecentTexts } from '../lib/recent-texts.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';

/** What the cache did for one request. */
export type CacheOutcome =
  /** `ttlSeconds` is negative when the page was served stale. */
  | { readonly kind: 'hit'; readonly ttlSeconds: number }
  | {
      readonly kind: 'forward';
      readonly because: 'miss' | 'stale' | 'bypass';
      /** The upstream's status, where it answered and the client got another. */
      readonly upstreamStatus?: number;
      readonly stored?: boolean;
      /** True when the answer came from another request's call. */
      readonly collapsed?: boolean;
      /** Set when a stored page was answered after all. */
      readonly ttlSeconds?: number;
      /** A short token that says more, for example `stale-if-error`. */
      readonly detail?: string;
    };

const hitText = createRecentTexts((ttlSeconds) => `portico; hit; ttl=${ttlSeconds}`);

/** The value of `Cache-Status` (RFC 9211). */
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

// An allowlist: a field that nobody thought of may name the caller it was meant for.
const KEPT: ReadonlySet<string> = new Set(['content-type', 'content-language', 'link']);

/** The fields that are kept with a stored page; send the same ones on a miss, so that hit and miss look alike. */
export function keptHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => KEPT.has(name.toLowerCase()));
}

/** What clients are told of pages that may be kept here: keep them for yourself, ask before each use (rules, 6). */
export const CLIENT_CACHE_HEADERS: HeaderPairs = [
  ['Cache-Control', 'private, no-cache'],
  // Kept pages have a gzip form.
  ['Vary', 'Accept-Encoding'],
];
