import { parseBasicCredentials } from '../lib/basic-credentials.ts';
import type { Credential } from './verifier.ts';

/** The maximum length of the header value. Real Basic credentials are shorter. */
const MAX_HEADER_LENGTH = 4096;

const MAX_NAME_LENGTH = 256;
// Control characters are not allowed (RFC 7617, 2). Invalid UTF-8 is decoded to U+FFFD, which could make two different
// names equal.
const UNUSABLE = /[\p{Cc}\u{FFFD}]/u;

/**
 * Parses the credential in an `Authorization` header. Returns undefined for other schemes, values that are too long,
 * names that are empty or too long, control characters, and text that is not valid UTF-8.
 */
export function readBasicCredential(header: string): Credential | undefined {
  if (header.length > MAX_HEADER_LENGTH) return undefined;
  const { name = '', password = '' } = parseBasicCredentials(header) ?? {};
  if (name === '' || name.length > MAX_NAME_LENGTH || UNUSABLE.test(name) || UNUSABLE.test(password)) return undefined;
  return { name, password, authorization: toAuthorization(name, password) };
}

/**
 * Returns the `Authorization` value for a name and a password, in the canonical form in which credentials are stored.
 */
export function toAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
