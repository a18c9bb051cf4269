import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { cacheDirectives, directiveSeconds } from './cache-control.ts';
import type { Freshness } from './cache-options.ts';

/** The maximum freshness from the upstream's headers, in seconds: one day. */
const MAX_SECONDS = 86_400;

/**
 * Returns how long a response may be used. The configured durations apply, unless `respectUpstream` is set and the upstream
 * specifies its own (RFC 9111, 4.2; RFC 5861), which are reduced by its `Age`.
 */
export function freshnessFor(
  headers: HeaderPairs,
  options: Freshness & { readonly respectUpstream: boolean },
  receivedAt: number,
): Freshness {
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = options;
  if (!options.respectUpstream) return { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds };
  const directives = cacheDirectives(headers);
  const lifetime =
    directiveSeconds(directives, 's-maxage') ??
    directiveSeconds(directives, 'max-age') ??
    expiresSeconds(headers, receivedAt);
  // RFC 9111, 5.2.2.10: s-maxage has the meaning of proxy-revalidate for a shared cache.
  const mustRevalidate = ['must-revalidate', 'proxy-revalidate', 's-maxage'].some((name) => directives.has(name));
  const stale = (name: string, configured: number) =>
    mustRevalidate ? 0 : Math.min(directiveSeconds(directives, name) ?? configured, MAX_SECONDS);
  return {
    freshSeconds:
      lifetime === undefined ? freshSeconds : Math.max(0, Math.min(lifetime - upstreamAge(headers), MAX_SECONDS)),
    staleWhileRevalidateSeconds: stale('stale-while-revalidate', staleWhileRevalidateSeconds),
    staleIfErrorSeconds: stale('stale-if-error', staleIfErrorSeconds),
  };
}

/** Returns the upstream's `Age` in seconds; 0 if it is absent or invalid. */
export function upstreamAge(headers: HeaderPairs): number {
  const age = headerValue(headers, 'age')?.trim() ?? '';
  return /^[0-9]{1,10}$/.test(age) ? Number(age) : 0;
}

function expiresSeconds(headers: HeaderPairs, receivedAt: number): number | undefined {
  const expires = headerValue(headers, 'expires');
  if (expires === undefined) return undefined;
  const date = Date.parse(headerValue(headers, 'date') ?? '');
  const seconds = (Date.parse(expires) - (Number.isNaN(date) ? receivedAt : date)) / 1000;
  // RFC 9111, 5.3: an invalid date, especially `0`, is in the past.
  return Number.isNaN(seconds) || !/[a-z]{3}/i.test(expires) ? 0 : Math.max(0, seconds);
}
