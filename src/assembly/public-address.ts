/** The address under which a client sees the gateway: what it called, and the public base path. */
export function publicAddressOf(host: string | undefined, protocol: string, publicBasePath: string): string {
  return `${protocol}://${host ?? 'localhost'}${publicBasePath}`;
}
