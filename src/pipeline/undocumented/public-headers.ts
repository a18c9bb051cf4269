import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import { publicForm, rewriteText } from '../../upstream/addresses.ts';
import type { LegacyAddresses } from '../../upstream/legacy-addresses.ts';

// Headers whose whole value is an address, and headers that contain addresses among other values.
const ADDRESS = new Set(['location', 'content-location']);
const ADDRESSES = new Set(['refresh', 'link']);
const REWRITTEN = [...ADDRESS, ...ADDRESSES, 'set-cookie'];

/** Replaces the legacy address with the public one in response headers that contain addresses or cookies. */
export function publicHeaders(headers: HeaderPairs, legacy: LegacyAddresses, publicAddress: string): HeaderPairs {
  if (!REWRITTEN.some((name) => headerValue(headers, name) !== undefined)) return headers;
  return headers.map(([name, value]) => {
    const key = name.toLowerCase();
    if (key === 'set-cookie') return [name, publicCookie(value, legacy, publicAddress)];
    if (ADDRESS.has(key)) return [name, publicLocation(value, legacy, publicAddress)];
    return [name, ADDRESSES.has(key) ? rewriteText(value, legacy, publicAddress) : value];
  });
}

/** Returns an address of the legacy server in its public form. Addresses of other servers are returned unchanged. */
export function publicLocation(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  if (/^\/(?!\/)/.test(value)) return publicPath(value, legacy, publicAddress) ?? value;
  // `//host/path` uses the scheme of the request. With the scheme added, it is recognized like any other address.
  const absolute = value.startsWith('//') ? `http:${value}` : value;
  const begin = absolute.match(legacy.underBase)?.[0];
  if (begin === undefined || !absolute.startsWith(begin)) return value;
  return publicForm(publicAddress, '') + absolute.slice(begin.length);
}

// A client would discard a cookie for the legacy host. Without `Domain`, a cookie belongs to the host that set it.
function publicCookie(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  const [pair = '', ...attributes] = value.split(';');
  const rewritten = attributes.flatMap((attribute) => {
    const [name = '', text = ''] = attribute.split('=', 2).map((part) => part.trim());
    if (name.toLowerCase() === 'domain' && isLegacyDomain(text, legacy)) return [];
    if (name.toLowerCase() !== 'path') return [attribute];
    return [` ${name}=${publicPath(text, legacy, publicAddress) ?? text}`];
  });
  return [pair, ...rewritten].join(';');
}

function isLegacyDomain(domain: string, legacy: LegacyAddresses): boolean {
  const name = domain.replace(/^\./, '').toLowerCase();
  return [...legacy.hostnames].some((host) => host === name || host.endsWith(`.${name}`));
}

// Converts a path under the legacy base path to one under the public base path. Returns undefined for any other path.
function publicPath(path: string, legacy: LegacyAddresses, publicAddress: string): string | undefined {
  const rest = path.slice(legacy.basePath.length);
  if (!path.startsWith(legacy.basePath) || !/^(?:[/?#]|$)/.test(rest)) return undefined;
  // The value is not parsed as a URL, because its host comes from the client's `Host` header and may be invalid.
  return publicAddress.replace(/^\w+:\/\/[^/]*/, '').replace(/\/+$/, '') + rest || '/';
}
