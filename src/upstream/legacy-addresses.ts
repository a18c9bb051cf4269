import { Transform } from 'node:stream';
import type { UpstreamAddress } from './upstream-url.ts';

/** Everything that absolute addresses of the legacy server begin with, compiled once. */
export interface LegacyAddresses {
  readonly basePath: string;
  /** Lower-case host names, without port. */
  readonly hostnames: ReadonlySet<string>;
  /** Any address on a legacy origin, plain or with JSON's escaped slashes. */
  readonly anywhere: RegExp;
  /** Origin and base path in front of something that ends them; group 1 holds the backslash of escaped slashes. */
  readonly underBase: RegExp;
  /** No address is recognised by more characters than this. */
  readonly longest: number;
}

// What may follow an origin or base path without making it another one.
const END = String.raw`(?=[/?#"'<>\s\\,;)\]}&]|$)`;
// A slash as it is, or as JSON may escape it; both slashes of `//` are written alike.
const SLASHES = String.raw`(\\?)/\1/`;
const SLASH = String.raw`\1/`;

/** Compiles what the upstream calls itself: its own origin and the configured ones, with http and https. */
export function compileLegacyAddresses(address: UpstreamAddress, legacyOrigins: readonly string[]): LegacyAddresses {
  const urls = [address.origin, ...legacyOrigins].map((origin) => new URL(origin));
  const hosts = [...new Set(urls.flatMap(hostForms))];
  const origin = `https?:${SLASHES}(?:${hosts.map(escape).join('|')})`;
  const base = address.basePath.split('/').map(escape).join(SLASH);
  return {
    basePath: address.basePath,
    hostnames: new Set(urls.map((url) => url.hostname.toLowerCase())),
    anywhere: new RegExp(origin + END, 'i'),
    underBase: new RegExp(origin + base + END, 'gi'),
    // Every character of the base path may be an escaped slash, and one more follows it.
    longest: 'https:'.length + 4 + Math.max(...hosts.map((host) => host.length)) + address.basePath.length * 2 + 1,
  };
}

/** True when a body, as bytes or decoded already, names the legacy server by an absolute address. */
export function findLegacyAddresses(body: Buffer | string, legacy: LegacyAddresses): boolean {
  return legacy.anywhere.test(typeof body === 'string' ? body : body.toString('latin1'));
}

/** The body with every absolute address under the legacy base address put under the public one; other bytes stay. */
export function rewriteLegacyAddresses(body: Buffer, legacy: LegacyAddresses, publicAddress: string): Buffer {
  const text = body.toString('latin1');
  const rewritten = rewriteText(text, legacy, publicAddress);
  return rewritten === text ? body : Buffer.from(rewritten, 'latin1');
}

/** As `rewriteLegacyAddresses`, for text. */
export function rewriteText(text: string, legacy: LegacyAddresses, publicAddress: string): string {
  return text.replace(legacy.underBase, (_match, backslash: string) => publicForm(publicAddress, backslash));
}

/** The public address in the way in which the legacy one was written. */
export function publicForm(publicAddress: string, backslash: string): string {
  const address = publicAddress.replace(/\/+$/, '');
  return backslash === '' ? address : address.replaceAll('/', '\\/');
}

function hostForms(url: URL): string[] {
  const host = url.host.toLowerCase();
  return url.port === '' ? [host, `${host}:80`, `${host}:443`] : [host];
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

// A scan that has found nothing in so many bytes stops looking.
const LONGEST_SCAN = 4 * 1024 * 1024;

/** Looks for legacy addresses in parts of a body, also across two parts; calls back once. */
export function createLegacyAddressScan(legacy: LegacyAddresses, onFound: () => void): (chunk: Buffer) => void {
  let tail = '';
  let left = LONGEST_SCAN;
  // An address may lie across two parts; of the second no more is looked at than it can reach.
  const beginsIn = (before: string, text: string): boolean => {
    if (before === '') return false;
    const found = legacy.anywhere.exec(before + text.slice(0, legacy.longest));
    return found !== null && found.index < before.length;
  };
  return (chunk) => {
    if (left <= 0) return;
    left -= chunk.length;
    const text = chunk.toString('latin1');
    if (legacy.anywhere.test(text) || beginsIn(tail, text)) {
      left = 0;
      onFound();
    }
    // From the bytes again: a slice of the text would keep all of it in memory.
    const end = chunk.toString('latin1', Math.max(0, chunk.length - legacy.longest));
    tail = (end.length < legacy.longest ? tail + end : end).slice(-legacy.longest);
  };
}

/** Rewrites absolute legacy addresses in a body that streams by, also across two parts of it. */
export function createLegacyAddressRewriter(legacy: LegacyAddresses, publicAddress: string): Transform {
  let held = '';
  // What begins before `until` is decided; the rest waits for the next part, since it may hold half an address.
  const rewrite = (text: string, until: number): string => {
    let written = '';
    let from = 0;
    for (const match of text.matchAll(legacy.underBase)) {
      if (match.index >= until) break;
      written += text.slice(from, match.index) + publicForm(publicAddress, match[1] ?? '');
      from = match.index + match[0].length;
    }
    const end = Math.max(from, until);
    held = text.slice(end);
    return written + text.slice(from, end);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = held + chunk.toString('latin1');
      const ready = rewrite(text, Math.max(0, text.length - legacy.longest));
      done(null, ready === '' ? undefined : Buffer.from(ready, 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(rewrite(held, held.length), 'latin1'));
    },
  });
}
