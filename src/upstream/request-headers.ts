import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { endToEnd, flatEndToEnd, GROUP } from './end-to-end-headers.ts';

/** The supported content codings, as an `Accept-Encoding` value. */
const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/**
 * Returns the headers of an upstream request for a documented operation. Only allowlisted headers of the client are
 * forwarded (rules, 2). `authorization` is either the caller's credential, if it is forwarded, or the service
 * account's. It is undefined for anonymous callers.
 */
export function requestHeaders(authorization: string | undefined, forwarding: HeaderPairs): HeaderPairs {
  return [
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ['Accept', 'application/json'],
    // The legacy server requires this header on every request, even on one without a body.
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwarding,
  ];
}

/**
 * Returns the client's end-to-end headers unchanged, for `observe` mode. `Host` and `Expect` concern only one
 * connection, so they are removed. Forwarding headers are replaced with the gateway's own.
 */
export function transparentHeaders(arrival: Arrival): HeaderPairs {
  return forwardedHeaders(arrival, 0);
}

/**
 * The differences between the upstream request for an undocumented path and the client's request, except in `observe`
 * mode.
 */
interface PassthroughHeaderChoice {
  /** The credential to send. The client's own `Authorization` header is never forwarded unchecked. */
  readonly authorization: string | undefined;
  /** True if the gateway reads the response body while forwarding it. */
  readonly identityCoding: boolean;
}

/** Returns the end-to-end headers of an upstream request for an undocumented path. */
export function passthroughHeaders(arrival: Arrival, choice: PassthroughHeaderChoice): HeaderPairs {
  const { authorization, identityCoding } = choice;
  const replaced = GROUP.methodOverride | GROUP.authorization | (identityCoding ? GROUP.partOrCoding : 0);
  const headers = forwardedHeaders(arrival, replaced);
  if (authorization !== undefined) headers.push(['Authorization', authorization]);
  if (identityCoding) headers.push(['Accept-Encoding', 'identity']);
  return headers;
}

/** Returns the client's headers without the groups in `omitted`, followed by the gateway's forwarding headers. */
function forwardedHeaders(arrival: Arrival, omitted: number): (readonly [string, string])[] {
  const client = endToEnd(arrival.rawHeaders, omitted | GROUP.connectionRequest | GROUP.forwarding);
  const via = headerValue(client, 'via');
  const headers = via === undefined ? client : client.filter(([name]) => name.toLowerCase() !== 'via');
  return [...headers, ...forwardingHeaders(arrival, via)];
}

/**
 * Returns a request's end-to-end headers as the flat list that undici expects, without `Host` and `Expect`. Only a
 * streamed body keeps the length that its sender declared. That length is checked while the body is sent.
 */
export function wireHeaders(headers: HeaderPairs, body: Buffer | Readable | undefined): string[] {
  const isStreamed = body !== undefined && !Buffer.isBuffer(body);
  return flatEndToEnd(headers, GROUP.connectionRequest | (isStreamed ? 0 : GROUP.contentLength));
}

/** The gateway's name in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

/**
 * Returns headers with the client's address, the requested host and the request's trace, all determined when the
 * request arrived. Use them only for responses that no other client receives, because the client chose the host, the
 * request id and the trace. `via` is the client's own `Via` header.
 */
export function forwardingHeaders(arrival: Arrival, via?: string): HeaderPairs {
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

/** The ids that let the upstream identify an exchange made for more than one client. */
export interface SharedIdentity {
  readonly requestId: string;
  readonly traceparent: string;
}

/**
 * Creates new ids for an exchange made for more than one client. The trace id is the request id without its dashes, so
 * both lead to the same log entry.
 */
export function sharedIdentity(): SharedIdentity {
  const requestId = randomUUID();
  // Node generates the random bytes for UUIDs in advance, and every digit of the parts used here is random (RFC 9562,
  // section 5.4).
  const uuid = randomUUID();
  const spanId = uuid.slice(24) + uuid.slice(0, 4);
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${spanId}-00` };
}

/**
 * Creates new ids like {@link sharedIdentity} for an exchange whose span is exported. If Portico has started the trace
 * of the request, the exchange stays in that trace. A trace that the client has started is not continued, because its
 * id is the client's choice.
 */
export function tracedIdentity(arrival: Pick<Arrival, 'traceparent' | 'parentSpanId'>): SharedIdentity {
  const { requestId, traceparent } = sharedIdentity();
  const isOwnTrace = arrival.parentSpanId === undefined;
  const prefix = isOwnTrace ? arrival.traceparent.slice(0, 36) : traceparent.slice(0, 36);
  return { requestId, traceparent: `${prefix}${traceparent.slice(36, 53)}${arrival.traceparent.slice(53)}` };
}

/**
 * Returns the forwarding headers for a request whose response is stored. If the upstream copies one of their values
 * into the page, other clients can see it. The headers therefore contain nothing that the client chose and that is not
 * in the cache key (rules, 2): no client address and no trace state, and the scheme and host only if they are
 * configured.
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
