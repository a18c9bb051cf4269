import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';

/** The supported content codings, as an `Accept-Encoding` value. */
const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

const JSON_TYPE = ['application/json'];

/**
 * Returns the headers of an upstream request for a documented operation. Of the client's headers, only those on the
 * allowlist are forwarded (docs/rules.md §2). `authorization` is the caller's credential, if forwarded, or the service
 * account's. It is undefined for anonymous callers. `contentTypes` contains the `Content-Type` lines to send.
 */
export function requestHeaders(
  authorization: string | undefined,
  forwarding: HeaderPairs,
  contentTypes: readonly string[] = JSON_TYPE,
): HeaderPairs {
  return [
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ['Accept', 'application/json'],
    // The legacy server requires `Content-Type` on every request, even one without a body.
    ...contentTypes.map((type) => ['Content-Type', type] as const),
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwarding,
  ];
}

/**
 * Returns the client's end-to-end headers unchanged, for `observe` mode. `Host` and `Expect` are removed, because they
 * apply to a single connection. Forwarding headers are replaced with the gateway's own.
 */
export function transparentHeaders(arrival: Arrival): HeaderPairs {
  return forwardedHeaders(arrival, 0);
}

/**
 * The differences between the upstream request for an undocumented path and the client's request. Not used in `observe`
 * mode.
 */
interface PassthroughHeaderChoice {
  /** The credential to send. The client's own `Authorization` header is never forwarded without a check. */
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
 * Returns a request's end-to-end headers, without `Host` and `Expect`, as the flat list that undici expects. The
 * declared length is included only for a streamed body, which is checked against it while being sent.
 */
export function wireHeaders(headers: HeaderPairs, body: Buffer | Readable | undefined): string[] {
  const isStreamed = body !== undefined && !Buffer.isBuffer(body);
  return flatEndToEnd(headers, GROUP.connectionRequest | (isStreamed ? 0 : GROUP.contentLength));
}

/** The gateway's name in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

/**
 * Returns headers with the client's address, the requested host and the request's trace, all determined when the
 * request arrived. Use these headers only if no other client receives the response, because the client chose the host,
 * the request id and the trace. `via` is the client's own `Via` header.
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

/** The ids by which the upstream can identify an exchange that serves more than one client. */
export interface SharedIdentity {
  readonly requestId: string;
  readonly traceparent: string;
}

/**
 * Creates new ids for an exchange that serves more than one client. The trace id is the request id without its
 * dashes, so both ids lead to the same log entry.
 */
export function sharedIdentity(): SharedIdentity {
  const requestId = randomUUID();
  // Node generates the random bytes for UUIDs in advance, and every digit of the parts used here is random (RFC 9562
  // §5.4).
  const uuid = randomUUID();
  const spanId = uuid.slice(24) + uuid.slice(0, 4);
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${spanId}-00` };
}

/**
 * Creates new ids, like {@link sharedIdentity}, for an exchange whose span is exported. If Portico started the trace of
 * the request, the exchange belongs to that trace. If the client started the trace, the exchange does not continue it,
 * because the client chose its id.
 */
export function tracedIdentity(arrival: Pick<Arrival, 'traceparent' | 'parentSpanId'>): SharedIdentity {
  const { requestId, traceparent } = sharedIdentity();
  const isOwnTrace = arrival.parentSpanId === undefined;
  const prefix = isOwnTrace ? arrival.traceparent.slice(0, 36) : traceparent.slice(0, 36);
  return { requestId, traceparent: `${prefix}${traceparent.slice(36, 53)}${arrival.traceparent.slice(53)}` };
}

/**
 * Returns the forwarding headers for a request whose response is stored. If the upstream copies the value of a header
 * into the page, other clients can see that value. The headers therefore contain no values chosen by the client, except
 * those in the cache key (docs/rules.md §2). The client's address and the trace state are never sent, and the scheme
 * and host are sent only if they are configured.
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

/**
 * Groups of headers that are treated differently when they are forwarded. A set of groups is the sum of their values.
 */
const GROUP = {
  /** Headers that are removed from both requests and responses (RFC 9110 §7.6.1). */
  hopByHop: 1,
  /** `Host` and `Expect`, which apply to a single connection. */
  connectionRequest: 2,
  /**
   * Headers that the gateway sets itself because the client's values cannot be trusted. `Via` is extended rather than
   * replaced.
   */
  forwarding: 4,
  /** Headers that would change the method after the gateway has already allowed the request. */
  methodOverride: 8,
  authorization: 16,
  /**
   * Headers that are not forwarded if the response body will be rewritten. A partial body could begin or end in the
   * middle of an address, and an encoded body cannot be searched for addresses.
   */
  partOrCoding: 32,
  contentLength: 64,
  /** The `Connection` header, which lists other headers that apply to a single connection. */
  connection: 128,
  transferEncoding: 256,
} as const;

const GROUPS: ReadonlyMap<string, number> = new Map([
  ['connection', GROUP.hopByHop + GROUP.connection],
  ['transfer-encoding', GROUP.hopByHop + GROUP.transferEncoding],
  // Some of these headers are sent only by old proxies, but all of them apply to a single connection. `Proxy-*` is
  // matched by its prefix.
  ...['keep-alive', 'te', 'trailer', 'upgrade', 'http2-settings'].map((name) => [name, GROUP.hopByHop] as const),
  ['host', GROUP.connectionRequest],
  ['expect', GROUP.connectionRequest],
  // `X-Forwarded-*` is matched by its prefix.
  ...['forwarded', 'x-real-ip', 'x-request-id', 'traceparent', 'tracestate'].map(
    (name) => [name, GROUP.forwarding] as const,
  ),
  ...['x-http-method-override', 'x-http-method', 'x-method-override'].map(
    (name) => [name, GROUP.methodOverride] as const,
  ),
  ['authorization', GROUP.authorization],
  ...['accept-encoding', 'range', 'if-range'].map((name) => [name, GROUP.partOrCoding] as const),
  ['content-length', GROUP.contentLength],
]);

function readGroups(name: string): number {
  const key = name.toLowerCase();
  const groups = GROUPS.get(key);
  if (groups !== undefined) return groups;
  if (key.startsWith('proxy-')) return GROUP.hopByHop;
  return key.startsWith('x-forwarded-') ? GROUP.forwarding : 0;
}

// Clients and servers capitalize each name in only a few ways, and looking up a name as spelled is faster than
// converting it to lower case.
const MAX_SPELLINGS = 500;
// Longer names are never stored in this cache, so they cannot exhaust its memory.
const MAX_NAME = 40;
const cachedGroups = boundedMemo(MAX_SPELLINGS, readGroups);

/** Returns the groups to which a header name belongs, regardless of its case, or 0 if there are none. */
function groupsOf(name: string): number {
  return name.length > MAX_NAME ? readGroups(name) : cachedGroups(name);
}

/**
 * Returns the headers that may be forwarded, in their original order: all except hop-by-hop headers, headers listed in
 * `Connection`, and headers in the `omitted` groups. The input is a list of alternating names and values, in the form
 * that Node and undici provide. `onTransferCoding` receives each value of `Transfer-Encoding`.
 */
export function endToEnd(
  raw: readonly (string | Buffer)[],
  omitted = 0,
  onTransferCoding?: (value: string) => void,
): HeaderPairs {
  const pairs: [string, string][] = [];
  const left = omitted | GROUP.hopByHop;
  let named: string | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = textOf(raw[at]);
    const groups = groupsOf(name);
    if ((groups & left) === 0) pairs.push([name, textOf(raw[at + 1])]);
    else if ((groups & GROUP.connection) !== 0) named = joined(named, textOf(raw[at + 1]));
    else if ((groups & GROUP.transferEncoding) !== 0) onTransferCoding?.(textOf(raw[at + 1]));
  }
  return named === undefined ? pairs : withoutNamed(pairs, named);
}

// Several lines with the same header name form one list (RFC 9110 §5.3).
function joined(earlier: string | undefined, value: string): string {
  return earlier === undefined ? value : `${earlier}, ${value}`;
}

/**
 * Returns headers composed by the gateway as the flat list that undici expects. Headers that `endToEnd` would remove
 * are left out, as are the groups in `omitted`.
 */
function flatEndToEnd(headers: HeaderPairs, omitted: number): string[] {
  const flat: string[] = [];
  const left = omitted | GROUP.hopByHop;
  for (const [name, value] of headers) {
    const groups = groupsOf(name);
    if ((groups & left) === 0) flat.push(name, value);
    else if ((groups & GROUP.connection) !== 0) return flatEndToEnd(endToEnd(headers.flat()), omitted);
  }
  return flat;
}

// Decodes each byte as one character.
function textOf(part: string | Buffer | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}

// The `Connection` values found in nearly all messages. They do not name any other headers.
const NAMES_NONE = /^(?:close|keep-alive)$/i;

/** Headers that `Connection` cannot remove, because they are meant for the final recipient (RFC 9110 §7.6.1). */
const FOR_LAST_RECIPIENT: ReadonlySet<string> = new Set(['host', 'cache-control', 'authorization']);

/**
 * Returns the headers without those listed in `Connection`. Headers that frame or describe the content cannot be
 * removed this way. If a client could remove the length, the body would be forwarded without framing, and the upstream
 * would read the body as a second request. If a client could remove the credential, the upstream would make its
 * decisions for a different caller than Portico does.
 */
function withoutNamed(headers: HeaderPairs, connection: string): HeaderPairs {
  if (NAMES_NONE.test(connection)) return headers;
  const named = new Set(connection.split(',').map((token) => token.trim().toLowerCase()));
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !named.has(key) || key.startsWith('content-') || FOR_LAST_RECIPIENT.has(key);
  });
}
