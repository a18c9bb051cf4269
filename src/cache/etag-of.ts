import { hash } from 'node:crypto';

/** The strong entity tag of a body: 132 bits of its SHA-256, quoted (RFC 9110, 8.8.3). */
export function etagOf(body: Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
