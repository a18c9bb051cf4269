import type { AddressInfo } from 'node:net';

/** Returns the address at which the process can reach its own listener: loopback if it listens on all addresses. */
export function ownAddress(
  address: AddressInfo | string | null,
): { readonly host: string; readonly port: number } | undefined {
  if (address === null || typeof address === 'string') return undefined;
  const { address: host, port } = address;
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return { host: host === '::' ? '::1' : host, port };
}
