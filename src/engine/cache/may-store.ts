import { parseHttpDate } from '../../lib/http-date.ts';
import { type HeaderPairs, headerValue, headerValues } from '../model/header-pairs.ts';
import type { StoreRefusal } from '../model/trace.ts';
import type { Freshness, StoreRule } from './cache-options.ts';

/**
 * The result of validating a response. `off` means that the check was off. `skipped` means that the check was on but
 * the response could not be validated, for example because its variant has no schema. Skipped responses are never
 * stored.
 */
export type Validity = 'valid' | 'accepted' | 'violations' | 'skipped' | 'off';

/** The properties of an upstream response that determine whether it may be stored. */
export interface StoreCandidate {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** The media type in lower case, without parameters. */
  readonly mediaType: string | undefined;
  /** True if the body is JSON and has the documented envelope (an object, an array or an action list). */
  readonly isEnvelope: boolean;
  /** True if the body has `error` or `errors` at the top level and no documented field. */
  readonly hasTopLevelError: boolean;
  readonly validity: Validity;
  readonly options: Freshness & { readonly store: StoreRule; readonly respectUpstream: boolean };
  /** When the response was received, in epoch milliseconds. */
  readonly receivedAt: number;
}

/** Returns why a response may not be stored, or undefined if it may be stored (docs/rules.md §6). */
export function storeRefusal(candidate: StoreCandidate): StoreRefusal | undefined {
  const { headers, options, validity } = candidate;
  if (candidate.status !== 200) return 'status';
  if (headerValue(headers, 'set-cookie') !== undefined) return 'set-cookie';
  if (variesBeyondEncoding(headers)) return 'vary';
  // Known content codings have already been removed, so a remaining coding is unknown and makes the body unreadable.
  if (headerValue(headers, 'content-encoding') !== undefined) return 'content-coding';
  if (candidate.mediaType !== 'application/json') return 'media-type';
  if (candidate.hasTopLevelError) return 'error-inside';
  if (!VERDICTS[options.store].has(validity)) return 'validity';
  if ((validity === 'off' || validity === 'violations') && !candidate.isEnvelope) return 'outer-form';
  if (options.respectUpstream && upstreamForbids(candidate)) return 'upstream-directive';
  return undefined;
}

const VERDICTS: Readonly<Record<StoreRule, ReadonlySet<Validity>>> = {
  valid: new Set(['valid']),
  accepted: new Set(['valid', 'accepted', 'off']),
  wellFormed: new Set(['valid', 'accepted', 'off', 'violations']),
};

function variesBeyondEncoding(headers: HeaderPairs): boolean {
  return headers
    .filter(([name]) => name.toLowerCase() === 'vary')
    .flatMap(([, value]) => value.split(','))
    .map((field) => field.trim().toLowerCase())
    .some((field) => field !== '' && field !== 'accept-encoding');
}

function upstreamForbids({ headers, options, receivedAt }: StoreCandidate): boolean {
  const directives = cacheDirectives(headers);
  if (['no-store', 'private', 'no-cache'].some((name) => directives.has(name))) return true;
  return freshnessFor(headers, options, receivedAt).freshSeconds <= 0;
}

/** The longest duration that upstream headers can set, in seconds: one day. */
const MAX_SECONDS = 86_400;

/**
 * Returns how long a response may be used. The configured durations apply unless `respectUpstream` is set and the
 * upstream's headers specify durations (RFC 9111 §4.2; RFC 5861). In that case, the freshness lifetime is also reduced
 * by the response's age. If `respectUpstream` is set, a response whose `Date`, `Age` or `Expires` is invalid or repeated
 * is treated as expired.
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
  const age = initialAge(headers, receivedAt);
  // In a shared cache, s-maxage also means proxy-revalidate (RFC 9111 §5.2.2.10).
  const mustRevalidate = ['must-revalidate', 'proxy-revalidate', 's-maxage'].some((name) => directives.has(name));
  const stale = (name: string, configured: number) =>
    mustRevalidate ? 0 : Math.min(directiveSeconds(directives, name) ?? configured, MAX_SECONDS);
  return {
    freshSeconds:
      lifetime === undefined && !Number.isNaN(age)
        ? freshSeconds
        : Math.max(0, Math.min((lifetime ?? 0) - age, MAX_SECONDS) || 0),
    staleWhileRevalidateSeconds: stale('stale-while-revalidate', staleWhileRevalidateSeconds),
    staleIfErrorSeconds: stale('stale-if-error', staleIfErrorSeconds),
  };
}

/** Returns the longest durations that `freshnessFor` can return for these options. */
export function longestFreshness(options: Freshness & { readonly respectUpstream: boolean }): Freshness {
  const longest = (configured: number) => (options.respectUpstream ? Math.max(configured, MAX_SECONDS) : configured);
  return {
    freshSeconds: longest(options.freshSeconds),
    staleWhileRevalidateSeconds: longest(options.staleWhileRevalidateSeconds),
    staleIfErrorSeconds: longest(options.staleIfErrorSeconds),
  };
}

/** Returns the upstream's `Age` in seconds, or 0 if the header is absent, repeated or invalid. */
export function upstreamAge(headers: HeaderPairs): number {
  const [age = '', ...more] = headerValues(headers, 'age');
  return more.length > 0 ? 0 : (deltaSeconds(age.trim()) ?? 0);
}

/**
 * Returns a response's age when it was received, in seconds: the time since its `Date`, or its `Age` if that is greater
 * (RFC 9111 §4.2.3). Returns NaN if either header is invalid or repeated.
 */
function initialAge(headers: HeaderPairs, receivedAt: number): number {
  const [date, ...moreDates] = headerValues(headers, 'date');
  const [age, ...moreAges] = headerValues(headers, 'age');
  if (moreDates.length > 0 || moreAges.length > 0) return Number.NaN;
  const apparent = date === undefined ? 0 : (receivedAt - (parseHttpDate(date, receivedAt) ?? Number.NaN)) / 1000;
  const stated = age === undefined ? 0 : (deltaSeconds(age.trim()) ?? Number.NaN);
  return Math.max(0, apparent, stated);
}

/** Returns the freshness lifetime according to `Expires`. Returns undefined if the header is absent. */
function expiresSeconds(headers: HeaderPairs, receivedAt: number): number | undefined {
  const [text, ...more] = headerValues(headers, 'expires');
  if (text === undefined) return undefined;
  const expires = more.length > 0 ? undefined : parseHttpDate(text, receivedAt);
  // An invalid date, especially `0`, represents a time in the past (RFC 9111 §5.3).
  if (expires === undefined) return 0;
  const date = parseHttpDate(headerValue(headers, 'date') ?? '', receivedAt) ?? receivedAt;
  return Math.max(0, (expires - date) / 1000);
}

/** The value of a number of seconds that is too large to be represented (RFC 9111 §1.2.2). */
const MAX_DELTA_SECONDS = 2 ** 31;

/** Parses a number of seconds (RFC 9111 §1.2.2). Returns undefined if the text is not a non-negative integer. */
function deltaSeconds(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Math.min(Number(text), MAX_DELTA_SECONDS) : undefined;
}

/**
 * Cache directives, keyed by their lower-case names. A directive without an argument has an empty string as its value.
 */
type CacheDirectives = ReadonlyMap<string, readonly string[]>;

const DIRECTIVE = /(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

/** Parses all of a message's `Cache-Control` headers (RFC 9111 §5.2). Invalid members are skipped. */
export function cacheDirectives(headers: HeaderPairs): CacheDirectives {
  const directives = new Map<string, string[]>();
  for (const [field, value] of headers) {
    if (field.toLowerCase() !== 'cache-control') continue;
    for (const [, name = '', quoted, plain = ''] of value.matchAll(DIRECTIVE)) {
      const values = directives.get(name.toLowerCase()) ?? [];
      values.push(quoted ?? plain);
      directives.set(name.toLowerCase(), values);
    }
  }
  return directives;
}

/**
 * Returns a directive's value in seconds, or undefined if the directive is absent. An invalid value counts as 0. If the
 * directive is repeated, the smallest value applies (RFC 9111 §4.2.1).
 */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const values = directives.get(name);
  if (values === undefined) return undefined;
  return Math.min(...values.map((value) => deltaSeconds(value) ?? 0));
}

/** Returns whether a client requests a fresh response and has a role that may bypass the cache (docs/rules.md §6). */
export function mayBypass(
  request: { readonly cacheControl: string | undefined; readonly pragma: string | undefined },
  roles: Iterable<string>,
  noCacheRoles: readonly string[],
): boolean {
  if (noCacheRoles.length === 0 || !requestsFresh(request)) return false;
  for (const role of roles) if (noCacheRoles.includes(role)) return true;
  return false;
}

function requestsFresh({ cacheControl, pragma }: { cacheControl: string | undefined; pragma: string | undefined }) {
  if (cacheControl !== undefined) {
    const directives = cacheDirectives([['cache-control', cacheControl]]);
    return directives.has('no-cache') || directives.has('no-store') || directives.get('max-age')?.[0] === '0';
  }
  // Pragma applies only if there is no Cache-Control header (RFC 9111 §5.4).
  return pragma !== undefined && /(?:^|,)\s*no-cache\s*(?:,|$)/i.test(pragma);
}
