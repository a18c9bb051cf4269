import { randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';

/** The supported content codings, as an `Accept-Encoding` value. */
const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/**
 * Returns the headers of an upstream request for a documented operation. Only allowlisted headers of the client are
 * forwarded (rules, 2). `authorization` is the caller's forwarded credential or the service account's; undefined for
 * anonymous callers.
 */
export function requestHeaders(authorization: string | undefined, forwarding: HeaderPairs): HeaderPairs {
  return [
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ['Accept', 'application/json'],
    // Every request to the legacy server needs this header, even without a body.
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwarding,
  ];
}

/**
 * Returns the client's end-to-end headers unchanged, for `observe`. `Host` and `Expect` belong to the connection and
 * are removed; forwarding headers are replaced with the gateway's own.
 */
export function transparentHeaders(arrival: Arrival): HeaderPairs {
  const headers = endToEnd(toHeaderPairs(arrival.rawHeaders));
  const kept = headers.filter(([name]) => {
    const key = name.toLowerCase();
    return key !== 'host' && key !== 'expect' && !isForwardingField(key);
  });
  return [...kept, ...forwardingHeaders(arrival, headers)];
}

/**
 * The differences between the upstream request of an undocumented path and the client's request, except in `observe`.
 */
interface PassthroughHeaderChoice {
  /** The credential to send; the client's own `Authorization` is never forwarded unchecked. */
  readonly authorization: string | undefined;
  /** True if the gateway reads the body of the response while forwarding it. */
  readonly identityCoding: boolean;
}

// These headers would change the method after the gateway has allowed it.
const METHOD_OVERRIDES = new Set(['x-http-method-override', 'x-http-method', 'x-method-override']);
// Not forwarded if the body will be rewritten: an address may span the boundary of a partial body, and an encoded body
// cannot be searched.
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
 * Returns the end-to-end headers of a request as the flat list that undici expects, without `Host` and `Expect`. Only a
 * streamed body retains the length that its sender declared: it is checked while the body is sent.
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

/** The gateway's name in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

const FORWARDING = new Set(['forwarded', 'x-real-ip', 'via', 'x-request-id', 'traceparent', 'tracestate']);

/** Returns true for headers that the gateway sets itself, so that the client's values are not trusted. */
function isForwardingField(name: string): boolean {
  const key = name.toLowerCase();
  return FORWARDING.has(key) || key.startsWith('x-forwarded-');
}

/**
 * Returns the headers with the client's address, the requested host and the trace of the request, as resolved on
 * arrival. Use them only for responses that no other client receives: the client chose the host, the request id and the
 * trace.
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

/** The ids that identify an exchange made for more than one client to the upstream. */
export interface SharedIdentity {
  readonly requestId: string;
  readonly traceparent: string;
}

/**
 * Creates new ids for such an exchange. The trace id is the request id without its dashes, so that one log entry
 * matches both.
 */
export function sharedIdentity(): SharedIdentity {
  const requestId = randomUUID();
  const spanId = randomBytes(8).toString('hex');
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${spanId}-00` };
}

/**
 * Returns the forwarding headers of a request whose response is stored. Values that the upstream copies into the page
 * are visible to other clients too, so the headers contain nothing that the client chose and the cache key omits
 * (rules, 2): no client address, no trace state, and scheme and host only if they are configured.
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

// RFC 9110 §7.6.1, and the headers of old proxies that concern one connection only. `Proxy-*` is matched by its prefix.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * Returns the headers that may be forwarded, in their original order: all except the hop-by-hop ones and those that
 * `Connection` names. `Connection` cannot name `Host`, `Cache-Control` or a header that frames or describes the content
 * (RFC 9110 §7.6.1): without its length a body would be forwarded unframed, and the upstream would read it as a second
 * request.
 */
export function endToEnd(headers: HeaderPairs): HeaderPairs {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !key.startsWith('proxy-') && (named?.has(key) !== true || isForEveryone(key));
  });
}

function isForEveryone(key: string): boolean {
  return key.startsWith('content-') || key === 'host' || key === 'cache-control';
}

function namedByConnection(headers: HeaderPairs): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (const [name, value] of headers) {
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  return named;
}

/** Converts the alternating names and values of Node and undici to pairs. */
export function toHeaderPairs(raw: readonly (string | Buffer)[]): HeaderPairs {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([text(raw[index]), text(raw[index + 1])]);
  return pairs;
}

function text(part: string | Buffer | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}
