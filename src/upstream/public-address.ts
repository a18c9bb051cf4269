import type { PublicOrigin } from '../model/arrival.ts';

/** Parses the configured `publicOrigin`; returns undefined if it is not configured. */
export function publicOriginOf(configured: string | undefined): PublicOrigin | undefined {
  if (configured === undefined) return undefined;
  const { protocol, host } = new URL(configured);
  return { protocol: protocol.slice(0, -1), host };
}

/** Returns the address of the gateway for clients, including the public base path. */
export function publicAddressOf({ protocol, host }: PublicOrigin, publicBasePath: string): string {
  return `${protocol}://${host ?? 'localhost'}${publicBasePath}`;
}
