import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.ts';

/**
 * This module refuses messages that another server could interpret differently. It is used on both the public side and
 * the admin side, before the application receives a message. Node's parser already refuses most such messages.
 */

const AUTHORITY = /^(https?):\/\/([^/?#]*)/i;
const DEFAULT_PORT = { http: /:80$/, https: /:443$/ };

// A host is a name, an IPv4 address or an IPv6 address, with an optional port (RFC 3986 §3.2.2). A Host header is empty
// if the target has no host.
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Returns the reason why a request head accepted by Node's parser must be refused, or undefined if it is valid. */
export function requestHeadFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): GatewayError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return unknownVersion();
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
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', 'The headers of the request are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request was not received in time.');
  // The parser uses the same code for an unknown coding and for a coding combined with a Content-Length. Only the
  // second case is ambiguous.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !/content-length/i.test(reason)) return unknownCoding();
  if (code === 'HPE_INVALID_VERSION') return unknownVersion();
  if (code !== undefined && REQUEST_LINE.has(code))
    return malformed('The request line must be a method, a target and a version, separated by single spaces.');
  return code?.startsWith('HPE_') ? malformed('The request is not well-formed HTTP.') : undefined;
}

const REQUEST_LINE: ReadonlySet<string> = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_URL', 'HPE_INVALID_CONSTANT']);

/** Returns the refusal for the method CONNECT. */
export const connectRefused = (): GatewayError => malformed('This server is not a proxy: CONNECT is refused.');

const unknownVersion = () => malformed('The HTTP version must be 1.1 or 1.0.');

function malformed(text: string): GatewayError {
  return new GatewayError('malformed_request', text);
}

function unknownCoding(): GatewayError {
  return new GatewayError('unknown_transfer_coding', 'The only supported transfer coding is chunked, applied once.');
}
