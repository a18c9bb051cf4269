import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { cacheDirectives } from './cache-control.ts';
import type { Freshness, StoreRule } from './cache-options.ts';
import { freshnessFor } from './freshness-for.ts';

/**
 * The result of validating a response. `skipped`: the check was on but could not be made (a variant without a schema); such
 * a response is never stored. `off`: the check was off.
 */
export type Validity = 'valid' | 'accepted' | 'violations' | 'skipped' | 'off';

/** The part of an upstream response that decides whether it may be stored. */
export interface StoreCandidate {
  readonly status: number;
  readonly headers: HeaderPairs;
  /** The media type without parameters, lower case. */
  readonly mediaType: string | undefined;
  /** True if the body is JSON with the documented envelope (an object, an array or an action list). */
  readonly isEnvelope: boolean;
  /** True for a body with `error` or `errors` at the top and no documented field. */
  readonly hasTopLevelError: boolean;
  readonly validity: Validity;
  readonly options: Freshness & { readonly store: StoreRule; readonly respectUpstream: boolean };
  /** When the response was received, in epoch milliseconds. */
  readonly receivedAt: number;
}

/** The reason why a response is not stored. */
type StoreRefusal =
  | 'status'
  | 'set-cookie'
  | 'vary'
  | 'content-coding'
  | 'media-type'
  | 'error-inside'
  | 'validity'
  | 'outer-form'
  | 'upstream-directive';

/** Decides whether a response may be stored (rules, 6). */
export function mayStore(
  candidate: StoreCandidate,
): { readonly store: true } | { readonly store: false; readonly reason: StoreRefusal } {
  const reason = refusal(candidate);
  return reason === undefined ? { store: true } : { store: false, reason };
}

function refusal(candidate: StoreCandidate): StoreRefusal | undefined {
  const { headers, options, validity } = candidate;
  if (candidate.status !== 200) return 'status';
  if (headerValue(headers, 'set-cookie') !== undefined) return 'set-cookie';
  if (variesBeyondEncoding(headers)) return 'vary';
  // Known codings have been removed by now; the content under any other coding is unknown.
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
