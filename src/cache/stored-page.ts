import { boundedMemo } from '../lib/bounded-memo.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Freshness } from './cache-options.ts';
import { etagOf } from './representation.ts';
import type { Validity } from './may-store.ts';

/** A response that is to be stored. */
export interface StoredPageInput {
  /** The response's headers; only those on an allowlist are stored. */
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  /** The strong entity tag of the body, if it is already known. */
  readonly etag?: string;
  readonly freshness: Freshness;
  /** Tags from the response (`node:5`), in addition to those of the fill. */
  readonly tags?: readonly string[];
  readonly pageCount?: number;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  /** The audience of the one principal whose credential fetched it; undefined for a service credential. */
  readonly filledBy?: string;
  /** The upstream's own `Age`, in seconds. */
  readonly ageSeconds?: number;
}

/** A page in the cache. It is frozen and shared by all requests that are served from it, so its body must not be changed. */
export interface StoredPage {
  readonly status: 200;
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  readonly etag: string;
  /** Epoch milliseconds, like all instants here. */
  readonly storedAt: number;
  readonly freshUntilAt: number;
  /** Until then the page may be served while a new one is fetched. */
  readonly staleUntilAt: number;
  /** Until then the page may be served if the upstream fails. */
  readonly errorUntilAt: number;
  readonly initialAgeSeconds: number;
  readonly tags: readonly string[];
  readonly pageCount: number | undefined;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  readonly filledBy: string | undefined;
}

/** Creates a page from a fetched response. The body is copied, so that the page does not retain a larger buffer. */
export function toStoredPage(input: StoredPageInput, tags: readonly string[], storedAt: number): StoredPage {
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = input.freshness;
  const freshUntilAt = storedAt + freshSeconds * 1000;
  const body = Buffer.allocUnsafeSlow(input.body.length);
  input.body.copy(body);
  return Object.freeze({
    status: 200,
    headers: Object.freeze(storedHeaders(input.headers).map(([name, value]) => Object.freeze([name, value] as const))),
    body,
    etag: input.etag ?? etagOf(body),
    storedAt,
    freshUntilAt,
    staleUntilAt: freshUntilAt + staleWhileRevalidateSeconds * 1000,
    errorUntilAt: freshUntilAt + staleIfErrorSeconds * 1000,
    initialAgeSeconds: input.ageSeconds ?? 0,
    tags: Object.freeze([...tags]),
    pageCount: input.pageCount,
    carriesPrivate: input.carriesPrivate,
    validity: input.validity,
    filledBy: input.filledBy,
  });
}

/** Returns the approximate size of a page in memory in bytes, including its key and its entries in the tag index. */
export function pageBytes(page: StoredPage, key: string): number {
  let bytes = 512 + key.length * 2 + page.body.length;
  for (const [name, value] of page.headers) bytes += 64 + name.length + value.length;
  for (const tag of page.tags) bytes += 96 + tag.length;
  return bytes;
}

/** Returns the `Age` of a page in whole seconds (RFC 9111, 5.1). */
export function ageSeconds(page: StoredPage, now: number): number {
  return page.initialAgeSeconds + Math.max(0, Math.floor((now - page.storedAt) / 1000));
}

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

// Few different values occur, and Node writes a flat string faster than a concatenated one.
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

/** The parts that distinguish stored pages (rules, 6). */
export interface CacheKeyParts {
  readonly contractVersion: string;
  readonly operationId: string;
  readonly audience: string;
  /** The exact target of the request to the upstream. */
  readonly upstreamTarget: string;
}

/** Returns the key of a page: one line per part. Parts cannot contain line breaks, so keys are unambiguous. */
export function cacheKey({ contractVersion, operationId, audience, upstreamTarget }: CacheKeyParts): string {
  return `${contractVersion}\n${operationId}\n${audience}\n${upstreamTarget}`;
}

/** Returns the operation id in a key. */
export function operationOfKey(key: string): string {
  return key.split('\n', 2)[1] ?? '';
}
