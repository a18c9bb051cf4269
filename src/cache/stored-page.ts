import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Freshness } from './cache-options.ts';
import { etagOf } from './etag.ts';
import { keptHeaders } from './response-headers.ts';
import type { Validity } from './may-store.ts';

/** What is handed in to be stored. */
export interface StoredPageInput {
  /** The answer's fields; only the kept ones stay. */
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  /** The strong entity tag of the body, when it is known already. */
  readonly etag?: string;
  readonly freshness: Freshness;
  /** Tags known only from the answer, beside those of the fill (`node:5`). */
  readonly tags?: readonly string[];
  readonly pageCount?: number;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  /** The audience of the one principal whose credential fetched it; undefined for a service credential. */
  readonly filledBy?: string;
  /** The upstream's own `Age`, in seconds. */
  readonly ageSeconds?: number;
}

/** A page in the cache: frozen and shared by everybody who is served from it, so its body is never written to. */
export interface StoredPage {
  readonly status: 200;
  readonly headers: HeaderPairs;
  readonly body: Buffer;
  readonly etag: string;
  /** Epoch milliseconds, as all instants here. */
  readonly storedAt: number;
  readonly freshUntilAt: number;
  /** Until then it is served while a new one is fetched. */
  readonly staleUntilAt: number;
  /** Until then it stands in for a failing upstream. */
  readonly errorUntilAt: number;
  readonly initialAgeSeconds: number;
  readonly tags: readonly string[];
  readonly pageCount: number | undefined;
  readonly carriesPrivate: boolean;
  readonly validity: Validity;
  readonly filledBy: string | undefined;
}

/** Makes a page of what was fetched; the body is copied, so that neither its writer nor a larger buffer behind it stays. */
export function toStoredPage(input: StoredPageInput, tags: readonly string[], storedAt: number): StoredPage {
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = input.freshness;
  const freshUntilAt = storedAt + freshSeconds * 1000;
  const body = Buffer.allocUnsafeSlow(input.body.length);
  input.body.copy(body);
  return Object.freeze({
    status: 200,
    headers: Object.freeze(keptHeaders(input.headers).map(([name, value]) => Object.freeze([name, value] as const))),
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

/** About how many bytes a page takes in memory, its key and its place in the tag index included. */
export function pageBytes(page: StoredPage, key: string): number {
  let bytes = 512 + key.length * 2 + page.body.length;
  for (const [name, value] of page.headers) bytes += 64 + name.length + value.length;
  for (const tag of page.tags) bytes += 96 + tag.length;
  return bytes;
}

/** The `Age` of a page in whole seconds (RFC 9111, 5.1). */
export function ageSeconds(page: StoredPage, now: number): number {
  return page.initialAgeSeconds + Math.max(0, Math.floor((now - page.storedAt) / 1000));
}
