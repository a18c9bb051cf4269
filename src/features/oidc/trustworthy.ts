import { isLoopbackHost } from '../../lib/network-address.ts';

/** Returns whether nobody else can change what comes from an address: it uses TLS, or is on this machine. */
export function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname.replaceAll(/[[\]]/g, '')));
}
