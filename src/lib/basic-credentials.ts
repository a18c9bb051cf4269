import { isUtf8 } from 'node:buffer';

/** The user id and the password in an `Authorization: Basic` header (RFC 7617). */
interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

/** A credential, and its header value in the canonical form that is stored and sent. */
export interface BasicCredential extends BasicCredentials {
  /**
   * The password as it reads in Latin-1. Set only if the bytes are valid UTF-8 as well, and the name reads the same in
   * both encodings.
   */
  readonly latin1Password?: string;
  /** The header value. It is the same for all ways to write the same bytes, and contains the bytes as they came. */
  readonly authorization: string;
}

// Scheme names are case-insensitive, and credentials use the alphabet of `token68` (RFC 9110 §11.4).
const BASIC = /^ *basic +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Returns the bytes in an `Authorization` header. Returns undefined for other schemes and for malformed values. */
function basicBytes(header: string): Buffer | undefined {
  const [, encoded] = BASIC.exec(header) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}

function split(text: string): BasicCredentials | undefined {
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Reads a credential in UTF-8, which the challenge asks for, or in Latin-1 if the bytes are not valid UTF-8. Many HTTP
 * libraries send Latin-1.
 */
const read = (bytes: Buffer) => split(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1'));

/** Parses the value of an `Authorization` header. Returns undefined for other schemes and for malformed credentials. */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  const bytes = basicBytes(header);
  return bytes === undefined ? undefined : read(bytes);
}

/** The maximum length of the header value. Real-world Basic credentials are shorter. */
const MAX_HEADER_LENGTH = 4096;

const MAX_NAME_LENGTH = 256;
const CONTROL = /\p{Cc}/u;
// RFC 7617 §2 forbids these. The others, U+0080 to U+009F, occur in Latin-1 readings of text in other encodings.
// eslint-disable-next-line no-control-regex
const ASCII_CONTROL = /[\x00-\x1f\x7f]/;

/**
 * Parses the credential in an `Authorization` header. Returns undefined for any other scheme, if the value is too long,
 * if the name is empty or too long, or if the text contains control characters.
 */
export function readBasicCredential(header: string): BasicCredential | undefined {
  if (header.length > MAX_HEADER_LENGTH) return undefined;
  const bytes = basicBytes(header);
  if (bytes === undefined) return undefined;
  const { name = '', password = '' } = read(bytes) ?? {};
  if (name === '' || name.length > MAX_NAME_LENGTH || CONTROL.test(name) || ASCII_CONTROL.test(password))
    return undefined;
  const authorization = `Basic ${bytes.toString('base64')}`;
  const latin1 = split(bytes.toString('latin1'));
  const differs = latin1?.name === name && latin1.password !== password;
  return { name, password, authorization, ...(differs && { latin1Password: latin1.password }) };
}

/**
 * Returns the `Authorization` value for a name and a password, in the canonical form in which credentials are stored.
 */
export function toAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
