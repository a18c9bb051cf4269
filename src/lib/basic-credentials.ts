/** The user id and the password in an `Authorization: Basic` header (RFC 7617). */
interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

/** A credential, and its header value in the canonical form that is stored and sent. */
export interface Credential extends BasicCredentials {
  readonly authorization: string;
}

// Scheme names are case-insensitive, and credentials use the alphabet of `token68` (RFC 9110 §11.4).
const BASIC = /^ *basic +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Parses the value of an `Authorization` header. Returns undefined for other schemes and for malformed credentials. */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  const [, encoded] = BASIC.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** The maximum length of the header value. Real-world Basic credentials are shorter. */
const MAX_HEADER_LENGTH = 4096;

const MAX_NAME_LENGTH = 256;
// Control characters are not allowed (RFC 7617 §2). Invalid UTF-8 is decoded to U+FFFD, which could make two
// different names look the same.
const UNUSABLE = /[\p{Cc}\u{FFFD}]/u;

/**
 * Parses the credential in an `Authorization` header. Returns undefined for any other scheme, if the value is too long,
 * if the name is empty or too long, or if the text contains control characters or is not valid UTF-8.
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
