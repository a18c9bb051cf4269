import { setImmediate as turn } from 'node:timers/promises';
import type { PublicOrigin } from '../model/arrival.ts';
import type { UpstreamAddress } from './upstream-url.ts';
import { trimEndOf } from '../../lib/trim-end.ts';

/** The compiled patterns that match absolute addresses of the legacy server. */
export interface LegacyAddresses {
  readonly basePath: string;
  /** Host names in lower case, without port. */
  readonly hostnames: ReadonlySet<string>;
  /**
   * Matches any address on a legacy origin, with a scheme or without one (`//host`), and with plain slashes or with
   * slashes escaped as in JSON.
   */
  readonly anywhere: RegExp;
  /**
   * Matches an origin and base path followed by a delimiter. Group 1 contains the scheme, and is undefined if there is
   * none. Group 2 contains the backslash if the slashes are escaped.
   */
  readonly underBase: RegExp;
  /** The character codes of the host names' first characters, with bit 0x20 set. */
  readonly hostStarts: ReadonlySet<number>;
  /** The maximum number of characters needed to recognize an address. */
  readonly longest: number;
}

// Punctuation and spaces beyond ASCII, such as quotation marks, as the Latin-1 reading of their UTF-8 bytes: no-break
// space and guillemets, the general punctuation of U+2000 to U+203F, the CJK punctuation of U+3000 to U+303F, and the
// wide punctuation of U+FF00 to U+FF0F.
const WIDE = String.raw`\xC2[\xA0\xAB\xBB]|\xE2\x80[\x80-\xBF]|\xE3\x80[\x80-\xBF]|\xEF\xBC[\x80-\x8F]`;
// The characters that may follow an origin or base path. Any other character would make the origin or path part of a
// longer name.
const DELIMITER = String.raw`[/?#"'<>\s\\,;)\]}&]|${WIDE}|$`;
// Characters that are part of an address, unless they end a sentence or close a pair of markers around the address. The
// number is limited, because the rewriter keeps as many characters for the next chunk.
const MAX_MARKS = 4;
const MARKS = String.raw`[.!:*_~|\x60]{1,${MAX_MARKS}}(?:["'<>\s\\,;)\]}]|${WIDE}|$)`;
const END = `(?=${DELIMITER}|${MARKS})`;
// Without a scheme, an address must not be preceded by a character that makes it part of a path or of an address with
// another scheme. In JSON, a letter after a backslash is part of an escape, such as \n.
const WITHOUT_SCHEME = String.raw`(?<!(?:^|[^\\])\w|[:/\\.@%~-])`;
/** The number of characters before an address that determine whether it is one. */
const CONTEXT = 2;
// Matches two slashes, either both plain or both escaped as in JSON.
const SLASHES = String.raw`(\\?)/\2/`;
const SLASH = String.raw`\2/`;

/**
 * Compiles the patterns for the upstream's own origin and the configured origins, with http, with https and without a
 * scheme.
 */
export function compileLegacyAddresses(address: UpstreamAddress, legacyOrigins: readonly string[]): LegacyAddresses {
  const urls = [address.origin, ...legacyOrigins].map((origin) => new URL(origin));
  const hosts = [...new Set(urls.flatMap(hostForms))];
  const origin = `(?:(https?:)|${WITHOUT_SCHEME})${SLASHES}(?:${hosts.map((host) => RegExp.escape(host)).join('|')})`;
  const base = address.basePath
    .split('/')
    .map((part) => RegExp.escape(part))
    .join(SLASH);
  return {
    basePath: address.basePath,
    hostnames: new Set(urls.map((url) => url.hostname.toLowerCase())),
    anywhere: new RegExp(origin + END, 'gi'),
    underBase: new RegExp(origin + base + END, 'gi'),
    hostStarts: new Set(hosts.map((host) => host.charCodeAt(0) | LOWER_CASE)),
    // In the worst case, every character of the base path is an escaped slash. The pattern also needs the characters
    // that may end a sentence and the delimiter, which has up to three bytes.
    longest:
      'https:'.length + 4 + Math.max(...hosts.map((host) => host.length)) + address.basePath.length * 2 + MAX_MARKS + 3,
  };
}

/**
 * Returns a function that checks whether a body contains an absolute address of the legacy server. A long body is
 * searched in parts, and other requests are served between parts.
 */
export function legacyAddressFinder(legacy: LegacyAddresses): (body: Buffer) => boolean | Promise<boolean> {
  return (body) =>
    body.length <= PART_BYTES ? body.toString('latin1').search(legacy.anywhere) >= 0 : findInParts(body, legacy);
}

async function findInParts(body: Buffer, legacy: LegacyAddresses): Promise<boolean> {
  const result = { isFound: false };
  const scan = createLegacyAddressScan(legacy, () => (result.isFound = true), body.length);
  for (let at = 0; at < body.length && !result.isFound; at += PART_BYTES) {
    scan(body.subarray(at, at + PART_BYTES));
    await turn();
  }
  return result.isFound;
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
  return text.replace(legacy.underBase, (_match, scheme: string | undefined, backslash: string) =>
    publicForm(publicAddress, scheme, backslash),
  );
}

/**
 * Returns the public address in the form of a legacy address: without a scheme if the legacy address had none, and with
 * escaped slashes if its slashes were escaped.
 */
export function publicForm(publicAddress: string, scheme: string | undefined, backslash: string): string {
  const full = trimEndOf(publicAddress, '/');
  const address = scheme === undefined ? full.slice(full.indexOf('//')) : full;
  return backslash === '' ? address : address.replaceAll('/', '\\/');
}

const LONGEST_SCAN = 4 * 1024 * 1024;

/**
 * Returns a function that searches the chunks of a body for legacy addresses, including addresses that span two chunks.
 * Calls `onFound` only once, for the first address. The search ends after `longest` bytes without a match.
 */
export function createLegacyAddressScan(
  legacy: LegacyAddresses,
  onFound: () => void,
  longest = LONGEST_SCAN,
): (chunk: Buffer) => void {
  // The end of the preceding chunks: as much as is needed to recognize an address, and the context before it.
  let tail = '';
  let remaining = longest;
  return (chunk) => {
    if (remaining <= 0) return;
    const isWhole = tail.length === longest - remaining;
    remaining -= chunk.length;
    const context = tail.slice(-CONTEXT);
    // An address can begin in one chunk and end in the next.
    const spans = () => tail + chunk.toString('latin1', 0, legacy.longest);
    const found =
      (tail !== '' && beginsIn(spans(), legacy, isWhole ? 0 : CONTEXT, tail.length)) ||
      (mayContain(chunk, legacy) && beginsIn(context + chunk.toString('latin1'), legacy, context.length, Infinity));
    if (found) {
      remaining = 0;
      onFound();
    }
    const end = chunk.toString('latin1', Math.max(0, chunk.length - legacy.longest - CONTEXT));
    tail = (tail + end).slice(-legacy.longest - CONTEXT);
  };
}

/** Returns whether an address begins in a text at index `from` or later, and before `until`. */
function beginsIn(text: string, { anywhere }: LegacyAddresses, from: number, until: number): boolean {
  for (const { index } of text.matchAll(anywhere)) if (index >= from && index < until) return true;
  return false;
}

// The two slashes directly before a host, plain or escaped as in JSON.
const BEFORE_HOST = [Buffer.from('//'), Buffer.from('/\\/')];

/** The number of occurrences after which a loop over the bytes is faster than a native search for each of them. */
const MANY = 64;

/**
 * Returns false if none of the slashes in a chunk can precede a legacy host. This test is much faster than the regular
 * expression.
 */
function mayContain(chunk: Buffer, legacy: LegacyAddresses): boolean {
  return BEFORE_HOST.some((slashes) => {
    let count = 0;
    for (let at = chunk.indexOf(slashes); at >= 0; at = chunk.indexOf(slashes, at + 1)) {
      if (isHostStart(chunk, at + slashes.length, legacy)) return true;
      count += 1;
      if (count === MANY) return mayContainAfter(chunk, at, legacy);
    }
    return false;
  });
}

const SLASH_CODE = 0x2f;
const BACKSLASH_CODE = 0x5c;

function mayContainAfter(chunk: Buffer, from: number, legacy: LegacyAddresses): boolean {
  for (let at = from; at < chunk.length; at += 1) {
    if (chunk[at] !== SLASH_CODE) continue;
    const second = chunk[at + 1] === BACKSLASH_CODE ? at + 2 : at + 1;
    if (chunk[second] === SLASH_CODE && isHostStart(chunk, second + 1, legacy)) return true;
  }
  return false;
}

const isHostStart = (chunk: Buffer, at: number, { hostStarts }: LegacyAddresses) =>
  hostStarts.has((chunk[at] ?? 0) | LOWER_CASE);

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
  // The characters before the pending text, which are already written.
  let context = '';
  // Bytes before `until` are final. The rest may contain the beginning of an address, so it is held back until the
  // next chunk arrives.
  const rewrite = (text: string, until: number): Buffer => {
    let written = '';
    let from = 0;
    const whole = context + text;
    for (const match of whole.matchAll(legacy.underBase)) {
      const at = match.index - context.length;
      if (at < 0) continue;
      if (at >= until) break;
      written += text.slice(from, at) + publicForm(publicAddress, match[1], match[2] ?? '');
      from = at + match[0].length;
    }
    const end = Math.max(from, until);
    pending = text.slice(end);
    const result = Buffer.from(written + text.slice(from, end), 'latin1');
    context = whole.slice(0, whole.length - pending.length).slice(-CONTEXT);
    return result;
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
