import type { UpstreamAddress } from './upstream-url.ts';

/** The compiled patterns that match absolute addresses of the legacy server. */
export interface LegacyAddresses {
  readonly basePath: string;
  /** Host names in lower case, without port. */
  readonly hostnames: ReadonlySet<string>;
  /** Matches any address on a legacy origin, with plain slashes or with slashes escaped as in JSON. */
  readonly anywhere: RegExp;
  /**
   * Matches an origin and base path that are followed by a delimiter. Group 1 contains the backslash if the slashes are
   * escaped.
   */
  readonly underBase: RegExp;
  /** The character codes of the host names' first characters, with bit 0x20 set. */
  readonly hostStarts: ReadonlySet<number>;
  /** The maximum number of characters that must be read to recognize an address. */
  readonly longest: number;
}

// The characters that may follow an origin or base path. Any other character would make it part of a longer name.
const END = String.raw`(?=[/?#"'<>\s\\,;)\]}&]|$)`;
// Matches two slashes, either both plain or both escaped as in JSON.
const SLASHES = String.raw`(\\?)/\1/`;
const SLASH = String.raw`\1/`;

/** Compiles the patterns for the upstream's own origin and the configured ones, with both http and https. */
export function compileLegacyAddresses(address: UpstreamAddress, legacyOrigins: readonly string[]): LegacyAddresses {
  const urls = [address.origin, ...legacyOrigins].map((origin) => new URL(origin));
  const hosts = [...new Set(urls.flatMap(hostForms))];
  const origin = `https?:${SLASHES}(?:${hosts.map((host) => RegExp.escape(host)).join('|')})`;
  const base = address.basePath
    .split('/')
    .map((part) => RegExp.escape(part))
    .join(SLASH);
  return {
    basePath: address.basePath,
    hostnames: new Set(urls.map((url) => url.hostname.toLowerCase())),
    anywhere: new RegExp(origin + END, 'i'),
    underBase: new RegExp(origin + base + END, 'gi'),
    hostStarts: new Set(hosts.map((host) => host.charCodeAt(0) | LOWER_CASE)),
    // In the worst case, every character of the base path is an escaped slash, and the pattern also needs the character
    // after the path.
    longest: 'https:'.length + 4 + Math.max(...hosts.map((host) => host.length)) + address.basePath.length * 2 + 1,
  };
}

/**
 * Returns a function that checks whether a body contains an absolute address of the legacy server. The body may be
 * bytes or text.
 */
export function legacyAddressFinder({ anywhere }: LegacyAddresses): (body: Buffer | string) => boolean {
  return (body) => anywhere.test(typeof body === 'string' ? body : body.toString('latin1'));
}

function hostForms(url: URL): string[] {
  const host = url.host.toLowerCase();
  return url.port === '' ? [host, `${host}:80`, `${host}:443`] : [host];
}

/** This bit converts an ASCII letter to lower case and leaves digits unchanged. */
export const LOWER_CASE = 0x20;
