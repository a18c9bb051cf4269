import type { UpstreamAddress } from './parse-upstream-url.ts';

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
