import { GatewayError } from '../errors/gateway-error.ts';
import type { Verdict } from './verify-credential.ts';

/** The errors of authentication, each with the fields that belong to it and without a word of the credential. */
export interface Refusals {
  credentialsRequired(): GatewayError;
  credentialsRefused(text?: string): GatewayError;
  /** The refusal that a verdict asks for; undefined for a valid credential. */
  of(verdict: Verdict): GatewayError | undefined;
}

/** The value of `WWW-Authenticate` (RFC 7617, 2 and 2.1). */
export function challengeOf(realm: string): string {
  return `Basic realm="${realm.replaceAll(/[\\"]/g, String.raw`\$&`)}", charset="UTF-8"`;
}

/** Makes refusals whose challenge names a realm. */
export function createRefusals(realm: string): Refusals {
  const challenge = { 'WWW-Authenticate': challengeOf(realm) };
  const credentialsRefused = (text = 'The credential was refused.') =>
    new GatewayError('credentials_refused', text, { headers: challenge });
  return {
    credentialsRequired: () =>
      new GatewayError('credentials_required', 'This request needs a credential.', { headers: challenge }),
    credentialsRefused,
    of(verdict) {
      if (verdict.kind === 'valid') return undefined;
      if (verdict.kind === 'invalid') return credentialsRefused();
      const headers = { 'Retry-After': String(Math.max(1, Math.ceil(verdict.retryAfterSeconds))) };
      if (verdict.kind !== 'unavailable') return new GatewayError('too_many_attempts', LIMITED, { headers });
      return new GatewayError('verification_unavailable', UNAVAILABLE, { headers, cause: verdict.cause });
    },
  };
}

/**
 * Seconds after which a refused caller may ask again, where the verification that failed is over and no longer says.
 */
const RETRY_SECONDS = '5';

/**
 * Returns the refusal of a caller who is unverified because nobody could look at the credential, by the reason in the
 * trace; undefined for every other reason. A credential that may be right must not be refused as a wrong one (rules,
 * 2).
 */
export function undecidedRefusal(reason: string | undefined): GatewayError | undefined {
  if (reason !== 'too_many_attempts' && reason !== 'verification_unavailable') return undefined;
  const text = reason === 'too_many_attempts' ? LIMITED : UNAVAILABLE;
  return new GatewayError(reason, text, { headers: { 'Retry-After': RETRY_SECONDS } });
}

const LIMITED = 'Too many attempts to log in; try again later.';
const UNAVAILABLE = 'The credential cannot be verified now; try again later.';
