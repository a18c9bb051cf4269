import { GatewayError } from '../errors/gateway-error.ts';

/** The errors of authentication, each with the fields that belong to it and without a word of the credential. */
export interface Refusals {
  credentialsRequired(): GatewayError;
  credentialsRefused(text?: string): GatewayError;
  tooManyAttempts(retryAfterSeconds: number): GatewayError;
  verificationUnavailable(retryAfterSeconds: number, cause: unknown): GatewayError;
}

/** The value of `WWW-Authenticate` (RFC 7617, 2 and 2.1). */
export function challengeOf(realm: string): string {
  return `Basic realm="${realm.replaceAll(/[\\"]/g, String.raw`\$&`)}", charset="UTF-8"`;
}

/** Makes refusals whose challenge names a realm. */
export function createRefusals(realm: string): Refusals {
  const challenge = { 'WWW-Authenticate': challengeOf(realm) };
  return {
    credentialsRequired: () =>
      new GatewayError('credentials_required', 'This request needs a credential.', { headers: challenge }),
    credentialsRefused: (text = 'The credential was refused.') =>
      new GatewayError('credentials_refused', text, { headers: challenge }),
    tooManyAttempts: (seconds) =>
      new GatewayError('too_many_attempts', 'Too many attempts to log in; try again later.', {
        headers: wait(seconds),
      }),
    verificationUnavailable: (seconds, cause) =>
      new GatewayError('verification_unavailable', 'The credential cannot be verified now; try again later.', {
        headers: wait(seconds),
        cause,
      }),
  };
}

const wait = (seconds: number) => ({ 'Retry-After': String(Math.max(1, Math.ceil(seconds))) });
