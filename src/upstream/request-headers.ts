import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { forwardingHeaders, isForwardingField } from './forwarding-headers.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';

/**
 * The headers of an upstream request for a documented operation: an allowlist (rules, 2), nothing else of the client
 * passes. `authorization` is the caller's forwarded credential or the service account's; undefined for anonymous callers.
 */
export function requestHeaders(authorization: string | undefined, forwarding: HeaderPairs): HeaderPairs {
  return [
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ['Accept', 'application/json'],
    // Every request to the legacy server carries it, those without a body too.
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwarding,
  ];
}

/**
 * Returns the client's end-to-end headers as they came, for `observe`. `Host` and `Expect` belong to the connection and are left
 * out; forwarding headers are replaced by ours.
 */
export function transparentHeaders(arrival: Arrival): HeaderPairs {
  const headers = endToEnd(toHeaderPairs(arrival.rawHeaders));
  const kept = headers.filter(([name]) => {
    const key = name.toLowerCase();
    return key !== 'host' && key !== 'expect' && !isForwardingField(key);
  });
  return [...kept, ...forwardingHeaders(arrival, headers)];
}

/** How the request of an undocumented path differs from what the client sent, outside of `observe`. */
export interface PassthroughHeaderChoice {
  /** The credential to send; the client's own `Authorization` is never forwarded unseen. */
  readonly authorization: string | undefined;
  /** True when the body of the response is to be read on its way. */
  readonly identityCoding: boolean;
}

// They would turn a method that was let through into another one.
const METHOD_OVERRIDES = new Set(['x-http-method-override', 'x-http-method', 'x-method-override']);
// Parts of a body cannot be rewritten: an address may lie across their edge.
const PARTS_AND_CODINGS = new Set(['accept-encoding', 'range', 'if-range']);

/** Returns the end-to-end headers of an upstream request for an undocumented path. */
export function passthroughHeaders(arrival: Arrival, choice: PassthroughHeaderChoice): HeaderPairs {
  const { authorization, identityCoding } = choice;
  const headers = transparentHeaders(arrival).filter(([name]) => {
    const key = name.toLowerCase();
    if (METHOD_OVERRIDES.has(key) || key === 'authorization') return false;
    return !identityCoding || !PARTS_AND_CODINGS.has(key);
  });
  return [
    ...headers,
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ...(identityCoding ? [['Accept-Encoding', 'identity'] as const] : []),
  ];
}
