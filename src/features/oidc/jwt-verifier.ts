import { BASIC_SCHEME } from '../../engine/identity/basic-scheme.ts';
import { bearerScheme } from '../../engine/identity/bearer-scheme.ts';
import type { Credential, Scheme, Verification, Verifier } from '../../engine/identity/verifier.ts';
import { parseBasicCredentials } from '../../lib/basic-credentials.ts';

/** A JSON Web Token in a request. */
export interface JwtCredential extends Credential {
  readonly token: string;
}

/** What is known about tokens of OpenID Connect issuers. */
export interface Jwts {
  verify(token: string): Promise<Verification>;
  /** Decides about a token whose signature is assumed to be right. Asks no issuer. */
  examine(token: string): Verification;
  /** Returns whose token it claims to be. Undefined if it is of no known issuer. Checks nothing else. */
  claimOf(token: string): string | undefined;
}

// Three parts in base64url (RFC 7515 §7.1).
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Creates the verifiers of tokens that OpenID Connect issuers have signed. They are never sent to the upstream, wherever
 * they stand in the header.
 */
export function jwtVerifiers(jwts: Pick<Jwts, 'claimOf' | 'verify'>, maxTokenBytes: number): readonly Verifier[] {
  const bearer = bearerScheme<JwtCredential>((token, authorization) => {
    if (!JWT.test(token)) return undefined;
    if (token.length > maxTokenBytes) return 'malformed';
    const claim = jwts.claimOf(token);
    return { authorization, name: undefined, token, ...(claim !== undefined && { claim }) };
  });
  const containsToken = (text: string) =>
    text.split(/[^\w.-]+/).some((part) => JWT.test(part) && jwts.claimOf(part) !== undefined);
  const scheme: Scheme<JwtCredential> = {
    ...bearer,
    read: (header) => bearer.read(header) ?? (containsToken(header) ? 'malformed' : undefined),
  };
  // A token of an issuer is not accepted as a password, but clients try, and then the upstream would be asked about it.
  const refused: Scheme<JwtCredential> = {
    ...BASIC_SCHEME,
    read(header) {
      const { name = '', password = '' } = parseBasicCredentials(header) ?? {};
      return containsToken(`${name}:${password}`) ? 'malformed' : undefined;
    },
  };
  return [scheme, refused].map((one) => ({
    scheme: one,
    asksUpstream: false,
    withheld: true as const,
    verify: ({ token }: JwtCredential) => jwts.verify(token),
    calibrate: () => Promise.resolve({ kind: 'calibrated' as const }),
  }));
}
