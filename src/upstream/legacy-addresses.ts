import { setImmediate as turn } from 'node:timers/promises';
import type { PublicOrigin } from '../model/arrival.ts';
import type { UpstreamAddress } from './upstream-url.ts';
import { trimEndOf } from '../lib/trim-end.ts';

/** The compiled patterns that match absolute addresses of the legacy server. */
export interface LegacyAddresses {
  readonly basePath: string;
  /** Host names in lower case, without port. */
  readonly hostnames: ReadonlySet<string>;
  /** Matches any address on a legacy origin, with plain slashes or with slashes escaped as in JSON. */
  readonly anywhere: RegExp;
  /**
   * Matches an origin and base path followed by a delimiter. Group 1 contains the backslash if the slashes are escaped.
   */
  readonly underBase: RegExp;
  /** The character codes of the host names' first characters, with bit 0x20 set. */
  readonly hostStarts: ReadonlySet<number>;
  /** The maximum number of characters needed to recognize an address. */
  readonly longest: number;
}

// The characters that may follow an origin or base path. Any other character would make the origin or path part of a
// longer name.
const END = String.raw`(?=[/?#"'<>\s\\,;)\]}&]|$)`;
// Matches two slashes, either both plain or both escaped as in JSON.
const SLASHES = String.raw`(\\?)/\1/`;
const SLASH = String.raw`\1/`;

/** Compiles the patterns for the upstream's own origin and the configured origins, with both http and https. */
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
    // In the worst case, every character of the base path is an escaped slash. The pattern also needs the character
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

/** Setting bit 0x20 converts an ASCII letter to lower case and leaves a digit unchanged. */
const LOWER_CASE = 0x20;

/** Returns the address that clients use to reach the gateway, including the public base path. */
export function publicAddressOf({ protocol, host }: PublicOrigin, publicBasePath: string): string {
  return `${protocol}://${host ?? 'localhost'}${publicBasePath}`;
}

/**
 * Returns the body with the legacy base address replaced with the public one in every absolute address. All other bytes
 * are unchanged.
 */
export function rewriteLegacyAddresses(body: Buffer, legacy: LegacyAddresses, publicAddress: string): Buffer {
  const text = body.toString('latin1');
  const rewritten = rewriteText(text, legacy, publicAddress);
  return rewritten === text ? body : Buffer.from(rewritten, 'latin1');
}

/** Like `rewriteLegacyAddresses`, but for text. */
export function rewriteText(text: string, legacy: LegacyAddresses, publicAddress: string): string {
  return text.replace(legacy.underBase, (_match, backslash: string) => publicForm(publicAddress, backslash));
}

/** Returns the public address. Its slashes are escaped if those in the legacy address were escaped. */
export function publicForm(publicAddress: string, backslash: string): string {
  const address = trimEndOf(publicAddress, '/');
  return backslash === '' ? address : address.replaceAll('/', '\\/');
}

// The search stops after this many bytes without a match.
const LONGEST_SCAN = 4 * 1024 * 1024;

/**
 * Returns a function that searches the chunks of a body for legacy addresses, including addresses that span two chunks.
 * Calls `onFound` only once, for the first address.
 */
export function createLegacyAddressScan(legacy: LegacyAddresses, onFound: () => void): (chunk: Buffer) => void {
  let tail = '';
  let remaining = LONGEST_SCAN;
  // An address can begin in one chunk and end in the next, so the search extends into the next chunk by the length of
  // the longest address.
  const spans = (chunk: Buffer): boolean => {
    if (tail === '') return false;
    const found = legacy.anywhere.exec(tail + chunk.toString('latin1', 0, legacy.longest));
    return found !== null && found.index < tail.length;
  };
  return (chunk) => {
    if (remaining <= 0) return;
    remaining -= chunk.length;
    if (spans(chunk) || (mayContain(chunk, legacy) && legacy.anywhere.test(chunk.toString('latin1')))) {
      remaining = 0;
      onFound();
    }
    const end = chunk.toString('latin1', Math.max(0, chunk.length - legacy.longest));
    tail = (end.length < legacy.longest ? tail + end : end).slice(-legacy.longest);
  };
}

// The two slashes directly before a host, plain or escaped as in JSON.
const BEFORE_HOST = [Buffer.from('//'), Buffer.from('/\\/')];

/**
 * Returns false if none of the slashes in a chunk can precede a legacy host. This test is much faster than the regular
 * expression.
 */
function mayContain(chunk: Buffer, { hostStarts }: LegacyAddresses): boolean {
  return BEFORE_HOST.some((slashes) => {
    for (let at = chunk.indexOf(slashes); at >= 0; at = chunk.indexOf(slashes, at + 1))
      if (hostStarts.has((chunk[at + slashes.length] ?? 0) | LOWER_CASE)) return true;
    return false;
  });
}

/** Rewrites absolute legacy addresses in the chunks of a body, including addresses that span two chunks. */
interface LegacyAddressRewriter {
  /** Returns the rewritten bytes that no later chunk can change. The result may be empty. */
  part(chunk: Buffer): Buffer;
  /** Returns the remaining rewritten bytes once the body has ended. */
  rest(): Buffer;
}

/** Creates a rewriter for one body. */
export function createLegacyAddressRewriter(legacy: LegacyAddresses, publicAddress: string): LegacyAddressRewriter {
  let pending = '';
  // Bytes before `until` are final. The rest may contain the beginning of an address, so it is held back until the
  // next chunk arrives.
  const rewrite = (text: string, until: number): Buffer => {
    let written = '';
    let from = 0;
    for (const match of text.matchAll(legacy.underBase)) {
      if (match.index >= until) break;
      written += text.slice(from, match.index) + publicForm(publicAddress, match[1] ?? '');
      from = match.index + match[0].length;
    }
    const end = Math.max(from, until);
    pending = text.slice(end);
    return Buffer.from(written + text.slice(from, end), 'latin1');
  };
  return {
    part(chunk) {
      const text = pending + chunk.toString('latin1');
      return rewrite(text, Math.max(0, text.length - legacy.longest));
    },
    rest: () => rewrite(pending, pending.length),
  };
}

const PART_BYTES = 262_144;

/**
 * Rewrites the absolute legacy addresses in a whole body. Returns the body itself if it contains none. A body can
 * contain hundreds of thousands of addresses, so a long body is rewritten in parts, and other requests are served
 * between parts.
 */
export function rewriteWholeBody(
  body: Buffer,
  legacy: LegacyAddresses,
  publicAddress: string,
): Buffer | Promise<Buffer> {
  if (!mayContain(body, legacy)) return body;
  if (body.length <= PART_BYTES) return rewriteLegacyAddresses(body, legacy, publicAddress);
  return rewriteInParts(body, createLegacyAddressRewriter(legacy, publicAddress));
}

async function rewriteInParts(body: Buffer, rewriter: LegacyAddressRewriter): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += PART_BYTES) {
    parts.push(rewriter.part(body.subarray(at, at + PART_BYTES)));
    await turn();
  }
  const rewritten = Buffer.concat([...parts, rewriter.rest()]);
  return rewritten.equals(body) ? body : rewritten;
}
