import { IPV4 } from './network-address.ts';

/** Returns whether only this machine can reach a listen address. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns the host that this machine can use to reach a listener. For a listener on all addresses, this is the loopback
 * address.
 */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Returns a host in the form that URLs use. An IPv6 address is in brackets (RFC 3986, 3.2.2). */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

const PRIVATE_IPV4 =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
const PRIVATE_IPV6 = /^\[?(?:::1\]?$|f[cd]|fe[89ab])/i;
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|svc|cluster\.local|test)$/i;

/**
 * Returns whether a host name or address belongs to this machine or to a private network (RFC 1918, RFC 4193, RFC 6598,
 * RFC 6762, RFC 8375). A name without a dot, such as the name of a container, also counts as private.
 */
export function isPrivateHost(host: string): boolean {
  if (IPV4.test(host)) return PRIVATE_IPV4.test(host);
  if (host.includes(':')) return PRIVATE_IPV6.test(host);
  return !host.includes('.') || PRIVATE_NAME.test(host);
}
