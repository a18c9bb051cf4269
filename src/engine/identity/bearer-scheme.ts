import type { Credential, Scheme } from './verifier.ts';

// The alphabet of RFC 6750 §2.1, `b64token`.
const BEARER = /^ *bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Creates the Bearer scheme (RFC 6750) of a verifier. `read` gets the token, and returns undefined if it is one of another
 * verifier. The challenges of all such schemes are the same.
 */
export function bearerScheme<Own extends Credential>(
  read: (token: string, authorization: string) => Own | 'malformed' | undefined,
): Scheme<Own> {
  return {
    name: 'Bearer',
    read(header) {
      const { token } = BEARER.exec(header)?.groups ?? {};
      return token === undefined ? undefined : read(token, `Bearer ${token}`);
    },
    // RFC 6750 §3.1: a request without a token gets no error code.
    challenge: (realm, refused) => challengeOf(realm, refused && 'invalid_token'),
    insufficient: (realm) => challengeOf(realm, 'insufficient_scope'),
  };
}

const challengeOf = (realm: string, error?: string) =>
  `Bearer realm="${realm.replaceAll(/[\\"]/g, String.raw`\$&`)}"${error === undefined ? '' : `, error="${error}"`}`;
