import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';

/** Decides which headers of the upstream's responses the clients of documented operations receive. */
export interface ResponseHeaders {
  /** Returns the headers that clients receive. */
  visible(headers: HeaderPairs): HeaderPairs;
  /**
   * Returns the headers that are stored with a page. The response to a cache miss has the same headers, so clients
   * cannot tell hits from misses by their headers.
   */
  stored(headers: HeaderPairs): HeaderPairs;
  /** Returns the names, in lower case, of the headers that clients may miss because they do not receive them. */
  dropped(headers: HeaderPairs): readonly string[];
}

const namesIn = (text: string) => text.trim().split(/\s+/);

/**
 * Headers that clients receive in every configuration. Except for the content type, they belong to a single response,
 * such as a redirect, a refusal or a body whose coding could not be removed, and are never stored.
 */
const ALWAYS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'location',
  'retry-after',
  'www-authenticate',
  'portico-redacted',
]);

/**
 * Headers that Portico writes itself, that belong to a single connection, or that would reveal a session. They cannot be
 * configured.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...ALWAYS,
  ...namesIn(`
  age cache-control cache-status connection content-length content-range contract-status date etag
  expires keep-alive last-modified pragma proxy-authenticate proxy-connection proxy-status set-cookie
  set-cookie2 te trailer transfer-encoding upgrade vary via x-content-type-options x-request-id
`),
]);

/** Further headers that API clients never miss: they describe the server, or are meant for pages in browsers. */
const UNMISSED: ReadonlySet<string> = new Set(
  namesIn(`
  accept-ranges alt-svc content-security-policy content-security-policy-report-only
  cross-origin-embedder-policy cross-origin-opener-policy cross-origin-resource-policy p3p
  permissions-policy referrer-policy server strict-transport-security x-frame-options x-powered-by
  x-ua-compatible x-xss-protection
`),
);

/** Returns whether a header name cannot be configured, because Portico or the connection decides about the header. */
export const isReservedHeader = (name: string): boolean => RESERVED.has(name.toLowerCase());

// Servers spell each name in only a few ways, and looking up a name as spelled is faster than converting it.
const MAX_SPELLINGS = 500;

/** Compiles the rules for response headers. `names` are the configured names (`upstream.responseHeaders`). */
export function createResponseHeaders(names: readonly string[]): ResponseHeaders {
  const listed = new Set(names.map((name) => name.toLowerCase()));
  const kindOf = boundedMemo(MAX_SPELLINGS, (spelled: string) => {
    const name = spelled.toLowerCase();
    if (name === 'content-type' || listed.has(name)) return 'stored';
    if (ALWAYS.has(name)) return 'visible';
    return RESERVED.has(name) || UNMISSED.has(name) ? 'unmissed' : 'dropped';
  });
  return {
    visible: (headers) => headers.filter(([name]) => kindOf(name) === 'stored' || kindOf(name) === 'visible'),
    stored: (headers) => headers.filter(([name]) => kindOf(name) === 'stored'),
    dropped(headers) {
      const found = headers.filter(([name]) => kindOf(name) === 'dropped');
      return [...new Set(found.map(([name]) => name.toLowerCase()))];
    },
  };
}
