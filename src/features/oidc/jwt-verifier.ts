import { bearerScheme } from '../../engine/identity/bearer-scheme.ts';
import type { Credential, Verification, Verifier } from '../../engine/identity/verifier.ts';

/** A JSON Web Token in a request. */
export interface JwtCredential extends Credential {
  readonly token: string;
}

// Three parts in base64url (RFC 7515 §7.1).
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Creates the verifier of tokens that OpenID Connect issuers have signed. They are never sent to the upstream. */
export const jwtVerifier = (
  verify: (token: string) => Promise<Verification>,
  maxTokenBytes: number,
): Verifier<JwtCredential> => ({
  scheme: bearerScheme((token, authorization) => {
    if (!JWT.test(token)) return undefined;
    return token.length > maxTokenBytes ? 'malformed' : { authorization, name: undefined, token };
  }),
  asksUpstream: false,
  withheld: true,
  verify: ({ token }) => verify(token),
  calibrate: () => Promise.resolve({ kind: 'calibrated' }),
});
