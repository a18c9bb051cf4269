import { boundedMemo } from '../lib/bounded-memo.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';

/**
 * Groups of headers that are treated differently when they are forwarded. A set of groups is the sum of their values.
 */
export const GROUP = {
  /** Headers that are removed in both directions (RFC 9110 §7.6.1). */
  hopByHop: 1,
  /** `Host` and `Expect`, which also apply to only one connection. */
  connectionRequest: 2,
  /** Headers that the gateway sets itself because the client's values cannot be trusted. `Via` is extended instead. */
  forwarding: 4,
  /** Headers that would change the method after the gateway has already allowed the request. */
  methodOverride: 8,
  authorization: 16,
  /**
   * Headers that are not forwarded if the response body will be rewritten. A partial body could begin or end in the
   * middle of an address, and an encoded body cannot be searched.
   */
  partOrCoding: 32,
  contentLength: 64,
  /** `Connection`, which lists other headers that concern only one connection. */
  connection: 128,
  transferEncoding: 256,
} as const;

const GROUPS: ReadonlyMap<string, number> = new Map([
  ['connection', GROUP.hopByHop + GROUP.connection],
  ['transfer-encoding', GROUP.hopByHop + GROUP.transferEncoding],
  // Some of these are sent only by old proxies, but they also concern a single connection. `Proxy-*` is matched by its
  // prefix.
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

// Clients and servers use only a few spellings of each name, and looking up a spelling is faster than converting it to
// lower case.
const MAX_SPELLINGS = 500;
// Longer names are not cached so that they cannot exhaust memory.
const MAX_NAME = 40;
const cachedGroups = boundedMemo(MAX_SPELLINGS, readGroups);

/** Returns the groups of a header name in any spelling, or 0 if it is in none. */
function groupsOf(name: string): number {
  return name.length > MAX_NAME ? readGroups(name) : cachedGroups(name);
}

/**
 * Returns the headers that may be forwarded, in their original order: all except hop-by-hop headers, headers that
 * `Connection` lists, and headers of the groups in `omitted`. The input is a list of alternating names and values, in
 * the form that Node and undici provide. `onTransferCoding` receives each value of `Transfer-Encoding`.
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

// Several lines with the same header form one list (RFC 9110 §5.3).
function joined(earlier: string | undefined, value: string): string {
  return earlier === undefined ? value : `${earlier}, ${value}`;
}

/**
 * Returns headers that the gateway composed, as the flat list that undici expects. Headers that `endToEnd` would remove
 * and headers of the groups in `omitted` are left out.
 */
export function flatEndToEnd(headers: HeaderPairs, omitted: number): string[] {
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

// The `Connection` values of nearly all messages. They do not list any other header.
const NAMES_NONE = /^(?:close|keep-alive)$/i;

/** Headers that `Connection` cannot remove, because they are meant for the last recipient (RFC 9110 §7.6.1). */
const FOR_LAST_RECIPIENT: ReadonlySet<string> = new Set(['host', 'cache-control', 'authorization']);

/**
 * Returns the headers without those that `Connection` lists. It cannot remove a header that frames or describes the
 * content. If it could remove the length, the body would be forwarded without framing, and the upstream would read it
 * as a second request. If it could remove the credential, the upstream would make its decisions about a different
 * caller than Portico.
 */
function withoutNamed(headers: HeaderPairs, connection: string): HeaderPairs {
  if (NAMES_NONE.test(connection)) return headers;
  const named = new Set(connection.split(',').map((token) => token.trim().toLowerCase()));
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !named.has(key) || key.startsWith('content-') || FOR_LAST_RECIPIENT.has(key);
  });
}
