import { boundedMemo } from '../../lib/bounded-maps.ts';

/** How the cache handled a request. */
export type CacheOutcome =
  /** `ttlSeconds` is negative if the page was stale. */
  | { readonly kind: 'hit'; readonly ttlSeconds: number }
  /** A stored page served without contacting the upstream because of an override. */
  | { readonly kind: 'forced'; readonly ttlSeconds: number }
  /** A page that another gateway has fetched. */
  | { readonly kind: 'shared'; readonly ttlSeconds: number }
  | {
      readonly kind: 'forward';
      readonly because: 'miss' | 'stale' | 'bypass';
      readonly stored?: boolean;
      /** True if another concurrent request had already caused the response to be fetched. */
      readonly collapsed?: boolean;
      /** The remaining freshness of the stored page served in place of the upstream's response. */
      readonly ttlSeconds?: number;
      /** A short token that adds a detail, such as `stale-if-error`. */
      readonly detail?: string;
    };

const MAX_TEXTS = 64;

// The memo stays small because there are few distinct values. It contains flat strings, which Node writes faster than
// concatenated ones.
const hitText = boundedMemo(MAX_TEXTS, (ttlSeconds: number) => `portico; hit; ttl=${ttlSeconds}`);

/** Returns the value of the `Cache-Status` header (RFC 9211). */
export function cacheStatus(outcome: CacheOutcome): string {
  if (outcome.kind === 'hit') return hitText(Math.floor(outcome.ttlSeconds));
  if (outcome.kind === 'shared') return `${hitText(Math.floor(outcome.ttlSeconds))}; detail=shared`;
  if (outcome.kind === 'forced') return `${hitText(Math.floor(outcome.ttlSeconds))}; detail=force-stale`;
  const parts = ['portico', `fwd=${outcome.because}`];
  if (outcome.ttlSeconds !== undefined) parts.push(`ttl=${Math.floor(outcome.ttlSeconds)}`);
  if (outcome.stored === true) parts.push('stored');
  if (outcome.collapsed === true) parts.push('collapsed');
  if (outcome.detail !== undefined) parts.push(`detail=${outcome.detail}`);
  return parts.join('; ');
}
