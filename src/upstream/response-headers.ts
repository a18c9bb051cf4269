import type { HeaderPairs } from '../model/header-pairs.ts';
import { publicForm, rewriteText, type LegacyAddresses } from './legacy-addresses.ts';

// Fields that are one address, and fields that hold some among other things.
const ADDRESS = new Set(['location', 'content-location']);
const ADDRESSES = new Set(['refresh', 'link']);

/** Puts the public address in the place of the legacy one in the fields of an answer that hold addresses or cookies. */
export function publicHeaders(headers: HeaderPairs, legacy: LegacyAddresses, publicAddress: string): HeaderPairs {
  return headers.map(([name, value]) => {
    const key = name.toLowerCase();
    if (key === 'set-cookie') return [name, publicCookie(value, legacy, publicAddress)];
    if (ADDRESS.has(key)) return [name, publicLocation(value, legacy, publicAddress)];
    return [name, ADDRESSES.has(key) ? rewriteText(value, legacy, publicAddress) : value];
  });
}

/** An address of the legacy server as the client can call it; addresses elsewhere stay as they are. */
export function publicLocation(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  if (/^\/(?!\/)/.test(value)) return publicPath(value, legacy, publicAddress) ?? value;
  // `//host/path` takes the scheme of the request; with one put in front it is recognised like any other.
  const absolute = value.startsWith('//') ? `http:${value}` : value;
  const begin = absolute.match(legacy.underBase)?.[0];
  if (begin === undefined || !absolute.startsWith(begin)) return value;
  return publicForm(publicAddress, '') + absolute.slice(begin.length);
}

// A cookie for the legacy host would be thrown away by the client; without `Domain` it is for whoever sets it.
function publicCookie(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  const [pair = '', ...attributes] = value.split(';');
  const kept = attributes.flatMap((attribute) => {
    const [name = '', text = ''] = attribute.split('=', 2).map((part) => part.trim());
    if (name.toLowerCase() === 'domain' && isLegacyDomain(text, legacy)) return [];
    if (name.toLowerCase() !== 'path') return [attribute];
    return [` ${name}=${publicPath(text, legacy, publicAddress) ?? text}`];
  });
  return [pair, ...kept].join(';');
}

function isLegacyDomain(domain: string, legacy: LegacyAddresses): boolean {
  const name = domain.replace(/^\./, '').toLowerCase();
  return [...legacy.hostnames].some((host) => host === name || host.endsWith(`.${name}`));
}

// A path under the legacy base path, under the public one; undefined when it is elsewhere.
function publicPath(path: string, legacy: LegacyAddresses, publicAddress: string): string | undefined {
  const rest = path.slice(legacy.basePath.length);
  if (!path.startsWith(legacy.basePath) || !/^(?:[/?#]|$)/.test(rest)) return undefined;
  // Not parsed as a URL: its host is what a client wrote into `Host`, which need not be one.
  return publicAddress.replace(/^\w+:\/\/[^/]*/, '').replace(/\/+$/, '') + rest || '/';
}
