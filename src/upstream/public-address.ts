import type { PublicOrigin } from '../model/arrival.ts';

/** Reads the configured `publicOrigin`; undefined where it is not configured. */
export function publicOriginOf(configured: string | undefined): PublicOrigin | undefined {
  if (configured === undefined) return undefined;
  const { protocol, host } = new URL(configured);
  return { protocol: protocol.slice(0, -1), host };
}

/** The address under which a client sees the gateway, the public base path included. */
export function publicAddressOf({ protocol, host }: PublicOrigin, publicBasePath: string): string {
  return `${protocol}://${host ?? 'localhost'}${publicBasePath}`;
}
