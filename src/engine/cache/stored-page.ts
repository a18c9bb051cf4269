import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Freshness, Audience } from './cache-options.ts';
import { etagOf } from './representation.ts';
import type { Validity } from './may-store.ts';
import type { Principal } from '../model/principal.ts';

/** A response to store in the cache. */
export interface StoredPageInput {
  /** The headers to store. They must not identify the caller. */
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  /** The body's strong entity tag, if already known. */
  readonly etag?: string;
  readonly freshness: Freshness;
  /** Additional tags from the response, such as `node:5`. */
  readonly tags?: readonly string[];
  readonly pageCount?: number;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  /**
   * The audience of the caller whose credential was used to fetch the page. Undefined if a service credential was used.
   */
  readonly filledBy?: string;
  /** The value of the upstream's `Age` header, in seconds. */
  readonly ageSeconds?: number;
}

/**
 * A page in the cache. All requests for the page share this object, so it is frozen and its body must not be changed.
 */
export interface StoredPage {
  readonly status: 200;
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  readonly etag: string;
  /** When the page was stored, in epoch milliseconds, like all times in this interface. */
  readonly storedAt: number;
  /** When the page's fetch began. The page reflects every change made before this time. */
  readonly asOf: number;
  readonly freshUntilAt: number;
  /** The time until which the page may be served while a new one is fetched. */
  readonly staleUntilAt: number;
  /** The time until which the page may be served if the upstream fails. */
  readonly errorUntilAt: number;
  readonly initialAgeSeconds: number;
  readonly tags: readonly string[];
  readonly pageCount: number | undefined;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  readonly filledBy: string | undefined;
}

/** Creates a page from a fetched response. The body is copied. The tags must not be changed afterwards. */
export function toStoredPage(
  input: StoredPageInput,
  tags: readonly string[],
  storedAt: number,
  asOf: number,
): StoredPage {
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = input.freshness;
  const freshUntilAt = storedAt + freshSeconds * 1000;
  const body = copyOf(input.body);
  return Object.freeze({
    status: 200,
    headers: frozenHeaders(withoutCookies(input.headers)),
    body,
    etag: input.etag ?? etagOf(body),
    storedAt,
    asOf,
    freshUntilAt,
    staleUntilAt: freshUntilAt + staleWhileRevalidateSeconds * 1000,
    errorUntilAt: freshUntilAt + staleIfErrorSeconds * 1000,
    initialAgeSeconds: input.ageSeconds ?? 0,
    tags: Object.freeze(tags),
    pageCount: input.pageCount,
    carriesPrivate: input.carriesPrivate,
    validity: input.validity,
    filledBy: input.filledBy,
  });
}

/** Copies the bytes to a new buffer, so that storing them does not keep the whole receive buffer in memory. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

let latestHeaders: HeaderPairs = Object.freeze([]);

/**
 * Returns frozen headers. Nearly all pages have the same headers, so consecutive pages share one object if their
 * headers are equal.
 */
function frozenHeaders(headers: HeaderPairs): HeaderPairs {
  if (!areEqual(headers, latestHeaders))
    latestHeaders = Object.freeze(headers.map(([name, value]) => Object.freeze([name, value] as const)));
  return latestHeaders;
}

function areEqual(some: HeaderPairs, others: HeaderPairs): boolean {
  return (
    some.length === others.length &&
    some.every(([name, value], index) => others[index]?.[0] === name && others[index]?.[1] === value)
  );
}

/** Returns the approximate size, in bytes, of a page in memory, including the key and the entries in the tag index. */
export function pageBytes(page: StoredPage, key: string): number {
  let bytes = 512 + key.length * 2 + page.body.length;
  for (const [name, value] of page.headers) bytes += 64 + name.length + value.length;
  for (const tag of page.tags) bytes += 96 + tag.length;
  return bytes;
}

/** Returns the `Age` of a page in whole seconds (RFC 9111 §5.1). */
export function ageSeconds(page: StoredPage, now: number): number {
  return page.initialAgeSeconds + Math.max(0, Math.floor((now - page.storedAt) / 1000));
}

/** Returns the headers without cookies, which belong to a single caller and are never stored. */
export function withoutCookies(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => !name.toLowerCase().startsWith('set-cookie'));
}

/**
 * The caching headers for pages that the gateway may store. Clients may store these pages privately but must revalidate
 * them (docs/rules.md §6).
 */
export const CLIENT_CACHE_HEADERS: HeaderPairs = [
  ['Cache-Control', 'private, no-cache'],
  // `Vary` is needed because a stored page can also be sent compressed.
  ['Vary', 'Accept-Encoding'],
];

/** Returns true if responses stored for this audience can be served to more than one caller. */
export function isShared(audience: string): boolean {
  return !audience.startsWith('caller:');
}

/**
 * Returns whether the audience has the same name in every process. If a caller is unverified, or sends tokens or
 * cookies that are forwarded, the audience contains a hash, whose key differs from process to process.
 */
export function isKnownEverywhere(audience: string): boolean {
  return isShared(audience) || /^caller:(?:anonymous:anonymous|verified:user:[^;]*)$/.test(audience);
}

/**
 * Returns the audience part of a cache key. `setting` is the operation's `audience`. `grantsKey` identifies the
 * caller's permissions and is undefined if they are unknown. The audience consists only of the caller if the operation
 * is demoted, if the principal is unverified, or if `setting` is `permissions` but the permissions are unknown.
 */
export function audienceOf(
  setting: Audience,
  principal: Principal,
  grantsKey: string | undefined,
  demoted: boolean,
): string {
  if (demoted || setting === 'caller' || principal.kind === 'unverified') return principal.audience;
  if (setting === 'public') return 'public';
  return grantsKey === undefined ? principal.audience : `permissions:${grantsKey}`;
}

/** The parts of a cache key (docs/rules.md §6). */
export interface CacheKeyParts {
  /** Identifies the contract and the rules under which the page was stored. */
  readonly pageVersion: string;
  readonly operationId: string;
  readonly audience: string;
  /** The upstream request's target, unchanged. */
  readonly upstreamTarget: string;
}

/**
 * Returns the cache key of a page, with one part per line. No part can contain a line break, so keys are unambiguous.
 */
export function cacheKey({ pageVersion, operationId, audience, upstreamTarget }: CacheKeyParts): string {
  return `${pageVersion}\n${operationId}\n${audience}\n${upstreamTarget}`;
}

/** Returns the operation id in a cache key. */
export function operationOfKey(key: string): string {
  return key.split('\n', 2)[1] ?? '';
}

/** Returns the audience in a cache key. */
export function audienceOfKey(key: string): string {
  return key.split('\n', 3)[2] ?? '';
}

/** Returns the page version in a cache key. */
export function versionOfKey(key: string): string {
  return key.slice(0, key.indexOf('\n'));
}
