/** The user id and the password in an `Authorization: Basic` header (RFC 7617). */
interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

// Scheme names are case-insensitive, and credentials use the alphabet of `token68` (RFC 9110, 11.4).
const BASIC = /^ *basic +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Parses the value of an `Authorization` header. Returns undefined for other schemes and for malformed credentials. */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  const [, encoded] = BASIC.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
