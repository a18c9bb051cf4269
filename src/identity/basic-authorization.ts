/** The one header value by which a Basic credential travels upstream and is remembered (RFC 7617, UTF-8). */
export function toAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
