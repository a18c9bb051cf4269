import type { AUTHENTICATION_CODES } from '../errors/catalogue.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Scheme } from './verifier.ts';
import type { Verdict } from './verify-credential.ts';

/** Creates authentication errors, including their headers. The errors never contain any part of a credential. */
interface Refusals {
  credentialsRequired(): GatewayError;
  /** Returns the error for a header that is not a valid credential of its scheme. */
  malformed(scheme: Scheme): GatewayError;
  /** Returns the error for a header whose scheme no verifier knows. */
  unknownScheme(): GatewayError;
  /** Returns the error for the verdict on a credential of a scheme. */
  of(verdict: Exclude<Verdict, { kind: 'valid' }>, scheme: Scheme): GatewayError;
}

/** A scheme whose credential was refused, and why. */
interface RefusedCredential {
  readonly scheme: Scheme;
  readonly because: 'malformed' | 'invalid';
}

/** Returns the value of the `WWW-Authenticate` header: a challenge for each scheme (RFC 9110 §11.6.1). */
export function challengesOf(schemes: readonly Scheme[], realm: string, refused?: RefusedCredential): string {
  const challenges = schemes.map((scheme) =>
    scheme.challenge(realm, scheme.name === refused?.scheme.name ? refused.because : undefined),
  );
  return [...new Set(challenges)].join(', ');
}

/** Returns which schemes are accepted, as the end of a sentence, such as `the Basic scheme is accepted`. */
const acceptedWords = (schemes: readonly Scheme[]): string => {
  const names = [...new Set(schemes.map(({ name }) => name))];
  return names.length === 1
    ? `the ${names.join()} scheme is accepted`
    : `the schemes ${names.join(' and ')} are accepted`;
};

/** Creates authentication errors with challenges for these schemes and the given realm. */
export function createRefusals(schemes: readonly Scheme[], realm: string): Refusals {
  const headersFor = (refused?: RefusedCredential) => ({ 'WWW-Authenticate': challengesOf(schemes, realm, refused) });
  const challenge = headersFor();
  const tokens = schemes.some(({ name }) => name === 'Bearer') ? '' : '; tokens such as Bearer are not';
  return {
    credentialsRequired: () =>
      refusal('credentials_required', 'This request requires a credential.', { headers: challenge }),
    malformed: (scheme) =>
      refusal('credentials_refused', `The Authorization header does not contain a valid ${scheme.name} credential.`, {
        headers: headersFor({ scheme, because: 'malformed' }),
      }),
    unknownScheme: () =>
      refusal('credentials_refused', `Only ${acceptedWords(schemes)} in the Authorization header${tokens}.`, {
        headers: challenge,
      }),
    of(verdict, scheme) {
      if (verdict.kind === 'invalid')
        return refusal('credentials_refused', 'The credential was refused.', {
          headers: headersFor({ scheme, because: 'invalid' }),
        });
      const headers = { 'Retry-After': String(Math.max(1, Math.ceil(verdict.retryAfterSeconds))) };
      if (verdict.kind !== 'unavailable') return refusal('too_many_attempts', LIMITED, { headers });
      return refusal('verification_unavailable', UNAVAILABLE, { headers, cause: verdict.cause });
    },
  };
}

/** The default value of `Retry-After`, in seconds, for failed verifications that do not specify one. */
const RETRY_SECONDS = '5';

/**
 * Returns the error for a caller whose credential could not be verified. Returns undefined for any other `reason` in
 * the trace. A credential that might be valid must not be refused as invalid (docs/rules.md §2).
 */
export function undecidedRefusal(reason: string | undefined): GatewayError | undefined {
  if (reason !== 'too_many_attempts' && reason !== 'verification_unavailable') return undefined;
  const text = reason === 'too_many_attempts' ? LIMITED : UNAVAILABLE;
  return refusal(reason, text, { headers: { 'Retry-After': RETRY_SECONDS } });
}

/** Creates an authentication error. The type restricts `code` to the codes that the metric counts. */
function refusal(
  code: (typeof AUTHENTICATION_CODES)[number],
  text: string,
  options: { headers: Record<string, string>; cause?: unknown },
): GatewayError {
  return new GatewayError(code, text, options);
}

const LIMITED = 'Too many login attempts; try again later.';
const UNAVAILABLE = 'The credential cannot be verified now; try again later.';
