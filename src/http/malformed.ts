import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.ts';

/*
 * What is refused before any application sees the request, on both sides of the gateway: messages that another server
 * could read in another way. Node's parser refuses most of them; the rest is refused here.
 */

const TOKEN = "[!#$%&'*+.^_`|~\\w-]+";
// RFC 9112, 3: single spaces between the three parts.
const REQUEST_LINE = new RegExp(String.raw`^${TOKEN} [^\s]+ HTTP\/1\.[01]\r$`);
const OTHER_VERSION = new RegExp(String.raw`^${TOKEN} [^\s]+ HTTP\/\d+(?:\.\d+)?\r$`);
const CONNECT = 'CONNECT ';

/** Returns why a request line is refused, or undefined. The line comes without its final LF. */
export function requestLineFault(line: string): GatewayError | undefined {
  // Without a proxy there is nothing to connect to; Node would end the connection without a response.
  if (line.startsWith(CONNECT)) return malformed('This server is not a proxy: CONNECT is refused.');
  if (REQUEST_LINE.test(line)) return undefined;
  return malformed(
    OTHER_VERSION.test(line)
      ? 'The only versions of HTTP here are 1.1 and 1.0.'
      : 'The request line is not a method, a target and a version with one space between them.',
  );
}

const AUTHORITY = /^(https?):\/\/([^/?#]*)/i;
const DEFAULT_PORT = { http: /:80$/, https: /:443$/ };

// RFC 3986, 3.2.2: names, addresses of both kinds, and a port; empty where the target has no host.
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Returns why a request head is refused that Node's parser has accepted, or undefined. */
export function requestHeadFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): GatewayError | undefined {
  let host: string | undefined;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    // The length first: it is compared far more quickly than text is put into lower case.
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') {
      // Node takes the first, another server the last.
      if (host !== undefined) return malformed('A request has exactly one Host header.');
      host = rawHeaders[at + 1] ?? '';
      // It is written into addresses of responses.
      if (!HOST.test(host)) return malformed('The Host header of the request is not a host.');
    } else if (name.length === 13 && name.toLowerCase() === 'authorization') {
      credentials += 1;
      // Only the first of several credentials would be judged, while another one could be believed upstream.
      if (credentials > 1) return malformed('A request has at most one Authorization header.');
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      // RFC 9112, 6.1: HTTP/1.0 has no transfer codings, so its framing is faulty.
      if (httpVersion === '1.0') return malformed('A request of HTTP/1.0 has no Transfer-Encoding.');
      if (rawHeaders[at + 1]?.toLowerCase() !== 'chunked') return unknownCoding();
    }
  }
  if (host === undefined && httpVersion === '1.1') return malformed('A request has exactly one Host header.');
  return url.startsWith('/') ? undefined : targetFault(url, host);
}

/**
 * RFC 9112, 3.2.2: the authority of an absolute target counts, not the Host header. A server behind us, or a check in front
 * of us, may read the other one, so both have to name the same host.
 */
function targetFault(url: string, host: string | undefined): GatewayError | undefined {
  const [, scheme, authority = ''] = AUTHORITY.exec(url) ?? [];
  if (scheme === undefined)
    return url === '*' ? undefined : malformed('The request target is neither a path nor an http address.');
  if (authority === '' || authority.includes('@'))
    return malformed('The address in the request target has no plain host.');
  const port = scheme.toLowerCase() === 'https' ? DEFAULT_PORT.https : DEFAULT_PORT.http;
  const plain = (text: string) => text.toLowerCase().replace(port, '');
  if (host === undefined || plain(host) === plain(authority)) return undefined;
  return malformed('The Host header and the address in the request target name different hosts.');
}

/** What Node's parser says of a message that it refuses. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

/** Returns the refusal for an error of Node's parser or of its timeouts; undefined for errors of the connection. */
export function parserFault({ code, reason = '' }: ParserError): GatewayError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request was not complete in time.');
  // The parser has one code for an odd coding and for a coding beside a length, which can be read in two ways.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !/content-length/i.test(reason)) return unknownCoding();
  return code?.startsWith('HPE_') ? malformed('The request is not well-formed HTTP.') : undefined;
}

/** Returns the refusal of a request whose head is over `listen.maxHeaderBytes`. */
export function headersTooLarge(): GatewayError {
  return new GatewayError('headers_too_large', 'The header fields of the request are too large.');
}

function malformed(text: string): GatewayError {
  return new GatewayError('malformed_request', text);
}

function unknownCoding(): GatewayError {
  return new GatewayError('unknown_transfer_coding', 'The only transfer coding here is chunked, applied once.');
}
