import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.ts';

/**
 * This module refuses messages that another server could interpret differently. It is used on both the public side and
 * the admin side, before the application receives a message. Node's parser already refuses most such messages.
 */

const SPACE = 0x20;
const NO_BREAK_SPACE = 0xa0;
const CONNECT = Buffer.from('CONNECT ');
const VERSION = Buffer.from('HTTP/1.');
const OTHER_VERSION = /^\S+ \S+ HTTP\/\d+(?:\.\d+)?\r$/;

/** Contains 1 for each byte that is allowed in a token (RFC 9110 §5.6.2). */
const TOKEN = new Uint8Array(256);
for (const char of "!#$%&'*+.^_`|~-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  TOKEN[char.charCodeAt(0)] = 1;

/**
 * Returns the reason why a request line must be refused, or undefined if it is valid. In `bytes`, the line starts at
 * index `from`, and its LF is at index `to`. The bytes are inspected directly to avoid creating a string for each line.
 */
export function requestLineFault(bytes: Buffer, from = 0, to = bytes.length): GatewayError | undefined {
  // The gateway is not a forward proxy. If CONNECT were not refused here, Node would end the connection without a
  // response.
  if (startsWith(bytes, from, CONNECT)) return malformed('This server is not a proxy: CONNECT is refused.');
  if (isRequestLine(bytes, from, to)) return undefined;
  return malformed(
    OTHER_VERSION.test(bytes.toString('latin1', from, to))
      ? 'The HTTP version must be 1.1 or 1.0.'
      : 'The request line must be a method, a target and a version, separated by single spaces.',
  );
}

/**
 * Returns whether a line is a valid request line: a method, a target and a version, separated by single spaces, with a
 * CR before the LF (RFC 9112 §3).
 */
function isRequestLine(bytes: Buffer, from: number, to: number): boolean {
  let at = from;
  while (at < to && TOKEN[bytes[at] ?? 0] === 1) at += 1;
  if (at === from || bytes[at] !== SPACE) return false;
  const target = at + 1;
  at = target;
  while (at < to && !isSpace(bytes[at] ?? 0)) at += 1;
  if (at === target || bytes[at] !== SPACE) return false;
  const version = at + 1;
  const minor = bytes[version + VERSION.length];
  return (
    to === version + VERSION.length + 2 &&
    startsWith(bytes, version, VERSION) &&
    (minor === 0x30 || minor === 0x31) &&
    bytes[to - 1] === 0x0d
  );
}

// Some servers also accept a tab, LF, vertical tab, form feed, CR or no-break space as a separator.
const isSpace = (byte: number) => byte === SPACE || (byte >= 9 && byte <= 13) || byte === NO_BREAK_SPACE;

function startsWith(bytes: Buffer, from: number, prefix: Buffer): boolean {
  for (let at = 0; at < prefix.length; at += 1) if (bytes[from + at] !== prefix[at]) return false;
  return true;
}

const AUTHORITY = /^(https?):\/\/([^/?#]*)/i;
const DEFAULT_PORT = { http: /:80$/, https: /:443$/ };

// A host is a name, an IPv4 address or an IPv6 address, with an optional port (RFC 3986 §3.2.2). A Host header is empty
// if the target has no host.
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Returns the reason why a request head accepted by Node's parser must be refused, or undefined if it is valid. */
export function requestHeadFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): GatewayError | undefined {
  let host: string | undefined;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    // Comparing the length and the usual spelling first is much faster than converting every name to lower case.
    const name = rawHeaders[at] ?? '';
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) {
      // Node uses the first Host header, whereas another server might use the last one.
      if (host !== undefined) return malformed('A request must have exactly one Host header.');
      host = rawHeaders[at + 1] ?? '';
      // The host becomes part of addresses in responses.
      if (!HOST.test(host)) return malformed('The Host header of the request is not a valid host.');
    } else if (name === 'Authorization' || (name.length === 13 && name.toLowerCase() === 'authorization')) {
      credentials += 1;
      // Portico would check only the first credential, but the upstream could use another one.
      if (credentials > 1) return malformed('A request must have at most one Authorization header.');
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      // HTTP/1.0 has no transfer codings, so it is ambiguous where such a message ends (RFC 9112 §6.1).
      if (httpVersion === '1.0') return malformed('An HTTP/1.0 request must not have a Transfer-Encoding header.');
      if (rawHeaders[at + 1]?.toLowerCase() !== 'chunked') return unknownCoding();
    }
  }
  if (host === undefined && httpVersion === '1.1') return malformed('A request must have exactly one Host header.');
  return url.startsWith('/') ? undefined : targetFault(url, host);
}

/**
 * Refuses a target whose host differs from the Host header. The host in an absolute target takes precedence (RFC 9112
 * §3.2.2), but the upstream, or a proxy in front of the gateway, might use the Host header.
 */
function targetFault(url: string, host: string | undefined): GatewayError | undefined {
  const [, scheme, authority = ''] = AUTHORITY.exec(url) ?? [];
  if (scheme === undefined)
    return url === '*' ? undefined : malformed('The request target must be a path or an HTTP URL.');
  if (authority === '' || authority.includes('@'))
    return malformed('The URL in the request target must have a host and no credentials.');
  const port = scheme.toLowerCase() === 'https' ? DEFAULT_PORT.https : DEFAULT_PORT.http;
  const plain = (text: string) => text.toLowerCase().replace(port, '');
  if (host === undefined || plain(host) === plain(authority)) return undefined;
  return malformed('The Host header and the URL in the request target name different hosts.');
}

/** An error that Node's parser reports for a refused message. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

/**
 * Returns the refusal for an error reported by Node's parser or one of its timeouts. Returns undefined for a connection
 * error.
 */
export function parserFault({ code, reason = '' }: ParserError): GatewayError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request was not received in time.');
  // The parser uses the same code for an unknown coding and for a coding combined with a Content-Length. Only the
  // second case is ambiguous.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !/content-length/i.test(reason)) return unknownCoding();
  return code?.startsWith('HPE_') ? malformed('The request is not well-formed HTTP.') : undefined;
}

/** Returns the refusal for a request whose head is larger than `listen.maxHeaderBytes`. */
export function headersTooLarge(): GatewayError {
  return new GatewayError('headers_too_large', 'The headers of the request are too large.');
}

function malformed(text: string): GatewayError {
  return new GatewayError('malformed_request', text);
}

function unknownCoding(): GatewayError {
  return new GatewayError('unknown_transfer_coding', 'The only supported transfer coding is chunked, applied once.');
}
