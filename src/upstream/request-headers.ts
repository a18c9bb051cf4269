import { randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
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
interface PassthroughHeaderChoice {
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

/**
 * The end-to-end fields of a request, flat as undici takes them, without `Host` and `Expect`. Only a streamed body keeps the
 * length that its sender declared: it is checked while it is sent.
 */
export function wireHeaders(headers: HeaderPairs, body: Buffer | Readable | undefined): string[] {
  const keepsLength = body !== undefined && !Buffer.isBuffer(body);
  const flat: string[] = [];
  for (const [name, value] of endToEnd(headers)) {
    const key = name.toLowerCase();
    if (key !== 'host' && key !== 'expect' && (key !== 'content-length' || keepsLength)) flat.push(name, value);
  }
  return flat;
}

/** What we call ourselves in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

const FORWARDING = new Set(['forwarded', 'x-real-ip', 'via', 'x-request-id', 'traceparent', 'tracestate']);

/** True for fields that we write ourselves, so that a client's own are not believed. */
function isForwardingField(name: string): boolean {
  const key = name.toLowerCase();
  return FORWARDING.has(key) || key.startsWith('x-forwarded-');
}

/**
 * Who asked, under which host, and which trace the request belongs to, as resolved on arrival. Only for responses that nobody
 * but this client gets: the client chose the host, the request id and the trace.
 */
export function forwardingHeaders(arrival: Arrival, earlier: HeaderPairs = []): HeaderPairs {
  const via = headerValue(earlier, 'via');
  return [
    ['X-Forwarded-For', arrival.clientAddress],
    ['X-Forwarded-Proto', arrival.protocol],
    ...(arrival.host ? [['X-Forwarded-Host', arrival.host] as const] : []),
    ['Via', via ? `${via}, ${VIA}` : VIA],
    ['X-Request-Id', arrival.requestId],
    ['traceparent', arrival.traceparent],
    ...(arrival.tracestate ? [['tracestate', arrival.tracestate] as const] : []),
  ];
}

/** The names under which the upstream knows an exchange that is made for more than one client. */
export interface SharedIdentity {
  readonly requestId: string;
  readonly traceparent: string;
}

/** Names such an exchange afresh; the trace id is the request id without its dashes, so that one log entry finds both. */
export function sharedIdentity(): SharedIdentity {
  const requestId = randomUUID();
  const spanId = randomBytes(8).toString('hex');
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${spanId}-00` };
}

/**
 * The forwarding fields of a request whose response is stored: whatever the upstream copies from them into the page is shown
 * to other clients too. So they hold nothing that the client chose and the cache key leaves out (rules, 2): no client address,
 * no trace state, and scheme and host only where they are configured.
 */
export function sharedForwardingHeaders(identity: SharedIdentity, origin: PublicOrigin | undefined): HeaderPairs {
  return [
    ...(origin === undefined ? [] : [['X-Forwarded-Proto', origin.protocol] as const]),
    ...(origin?.host === undefined ? [] : [['X-Forwarded-Host', origin.host] as const]),
    ['Via', VIA],
    ['X-Request-Id', identity.requestId],
    ['traceparent', identity.traceparent],
  ];
}
