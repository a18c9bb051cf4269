import type { AUTHENTICATION_CODES } from '../errors/catalogue.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Verdict } from './verify-credential.ts';

/** Creates authentication errors, including their headers. The errors never contain any part of a credential. */
interface Refusals {
  credentialsRequired(): GatewayError;
  credentialsRefused(text?: string): GatewayError;
  /** Returns the error for a verdict, or undefined for a valid credential. */
  of(verdict: Verdict): GatewayError | undefined;
}

/** Returns the value of the `WWW-Authenticate` header for a realm (RFC 7617 §2 and §2.1). */
export function challengeOf(realm: string): string {
  return `Basic realm="${realm.replaceAll(/[\\"]/g, String.raw`\$&`)}", charset="UTF-8"`;
}

/** Creates authentication errors whose challenge contains the given realm. */
export function createRefusals(realm: string): Refusals {
  const challenge = { 'WWW-Authenticate': challengeOf(realm) };
  const credentialsRefused = (text = 'The credential was refused.') =>
    refusal('credentials_refused', text, { headers: challenge });
  return {
    credentialsRequired: () =>
      refusal('credentials_required', 'This request requires a credential.', { headers: challenge }),
    credentialsRefused,
    of(verdict) {
      if (verdict.kind === 'valid') return undefined;
      if (verdict.kind === 'invalid') return credentialsRefused();
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
