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

const LIMITED = 'Too many attempts to log in; try again later.';
const UNAVAILABLE = 'The credential cannot be verified now; try again later.';
