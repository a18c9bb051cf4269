import { BASIC_SCHEME } from '../../engine/identity/basic-scheme.ts';
import { bearerScheme } from '../../engine/identity/bearer-scheme.ts';
import type { Credential, Scheme, Verifier } from '../../engine/identity/verifier.ts';
import { readBasicCredential } from '../../lib/basic-credentials.ts';
import { parseToken, type Token, TOKEN_PREFIX } from './token-format.ts';
import type { TokensAtWork } from './tokens-at-work.ts';

/** A token in a request. */
interface TokenCredential extends Credential {
  readonly token: Token;
}

/** A token as it is: `Authorization: Bearer ptk_…`. */
const TOKEN_SCHEME = bearerScheme<TokenCredential>((text, authorization) => {
  if (!text.startsWith(TOKEN_PREFIX)) return undefined;
  const token = parseToken(text);
  return token === undefined ? 'malformed' : { authorization, name: undefined, token };
});

/** A token as the password of Basic, for clients that know nothing else. The user name is that of the caller. */
const PASSWORD_SCHEME: Scheme<TokenCredential & { readonly name: string }> = {
  ...BASIC_SCHEME,
  read(header) {
    const credential = readBasicCredential(header);
    // No other password may begin like a token (docs/tokens.md). Otherwise, a token that was cut off would be sent to the
    // upstream as a password.
    if (credential?.password.startsWith(TOKEN_PREFIX) !== true) return undefined;
    const { name, password, authorization } = credential;
    const token = parseToken(password);
    return token === undefined ? 'malformed' : { authorization, name, token };
  },
};

/** Returns the verifiers of tokens in both forms. Tokens are never sent to the upstream, whether they are valid or not. */
export function tokenVerifiers({ verify }: Pick<TokensAtWork, 'verify'>): readonly Verifier[] {
  const shared: Pick<Verifier, 'asksUpstream' | 'withheld' | 'calibrate'> = {
    asksUpstream: false,
    withheld: true,
    calibrate: () => Promise.resolve({ kind: 'calibrated' }),
  };
  const bearer: Verifier<TokenCredential> = { ...shared, scheme: TOKEN_SCHEME, verify: ({ token }) => verify(token) };
  const password: Verifier<TokenCredential & { readonly name: string }> = {
    ...shared,
    scheme: PASSWORD_SCHEME,
    verify: ({ token, name }) => verify(token, name),
  };
  return [bearer, password];
}
