import { BASIC_SCHEME } from '../../engine/identity/basic-scheme.ts';
import { bearerScheme } from '../../engine/identity/bearer-scheme.ts';
import type { Credential, Scheme, Verifier } from '../../engine/identity/verifier.ts';
import { parseBasicCredentials, readBasicCredential } from '../../lib/basic-credentials.ts';
import { containsToken, isTokenId, parseToken, type Token, TOKEN_PREFIX } from './token-format.ts';
import type { TokensAtWork } from './tokens-at-work.ts';

/** A token in a request. */
interface TokenCredential extends Credential {
  readonly token: Token;
}

/** Reads the token in a text. Returns undefined for any other text. */
type ReadToken = (text: string) => Token | undefined;

/** Returns the scheme of a token as it is: `Authorization: Bearer ptk_…`. */
function tokenScheme(read: ReadToken): Scheme<TokenCredential> {
  const scheme = bearerScheme<TokenCredential>((text, authorization) => {
    const token = read(text);
    // No name has a colon, so wrong tokens never count for a caller.
    if (token !== undefined) return { authorization, name: undefined, claim: `token:${token.id}`, token };
    return text.startsWith(TOKEN_PREFIX) ? 'malformed' : undefined;
  });
  return {
    ...scheme,
    // A token in any other form is refused here, too, such as one without a scheme. Where authentication is only reported,
    // it would be sent to the upstream.
    read: (header) => scheme.read(header) ?? (containsToken(header) ? 'malformed' : undefined),
  };
}

/** A token as the password of Basic, for clients that know nothing else. The user name is that of the caller. */
const PASSWORD_SCHEME: Scheme<TokenCredential & { readonly name: string }> = {
  ...BASIC_SCHEME,
  read(header) {
    const credential = readBasicCredential(header);
    const token = parseToken(credential?.password ?? '');
    if (credential !== undefined && token !== undefined)
      return { authorization: credential.authorization, name: credential.name, token };
    const { name = '', password = '' } = parseBasicCredentials(header) ?? {};
    // No other password may begin like a token (docs/tokens.md). Otherwise, a token that was cut off, has a space before
    // it, or is in the place of the name, would be sent to the upstream as a password, or as the name of a caller.
    const isTaken = password.startsWith(TOKEN_PREFIX) || containsToken(password) || containsToken(name);
    return isTaken ? 'malformed' : undefined;
  },
};

/** Returns the verifiers of tokens in both forms. Tokens are never sent to the upstream, whether they are valid or not. */
export function tokenVerifiers(verify: TokensAtWork['verify'], read: ReadToken = parseToken): readonly Verifier[] {
  const shared: Pick<Verifier, 'asksUpstream' | 'withheld' | 'calibrate'> = {
    asksUpstream: false,
    withheld: true,
    calibrate: () => Promise.resolve({ kind: 'calibrated' }),
  };
  const bearer: Verifier<TokenCredential> = {
    ...shared,
    scheme: tokenScheme(read),
    verify: ({ token }) => verify(token),
  };
  const password: Verifier<TokenCredential & { readonly name: string }> = {
    ...shared,
    scheme: PASSWORD_SCHEME,
    verify: ({ token, name }) => verify(token, name),
  };
  return [bearer, password];
}

/** Reads a token, or the id of one in its place, where the secret is not known and is assumed to be right. */
export const readTokenOrId: ReadToken = (text) =>
  parseToken(text) ?? (isTokenId(text) ? { id: text, secret: '' } : undefined);
