import { GatewayError } from '../../src/errors/gateway-error.ts';
import type { AuthenticationInput } from '../../src/identity/authenticator.ts';
import { createAuthenticator } from '../../src/identity/create-authenticator.ts';
import { IDENTITY_DEFAULTS, type IdentityOptions } from '../../src/identity/identity-options.ts';
import type { Credential, Verification, Verifier } from '../../src/identity/verifier.ts';

/** An instant to start at; never 0. */
export const START = Date.UTC(2024, 4, 1);

/** is equal only for the same texts under the same key */
export const basic = (name: string, password: string = name) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const byName = ({ name, password }: Credential): Verification => ({ kind: name === password ? 'valid' : 'invalid' });

/** distinguishes one list of texts from another */
export function fakeVerifier(answer?: (credential: Credential) => Verification | Promise<Verification>) {
  const asked: { name: string; password: string; known: boolean }[] = [];
  const verifier: Verifier = {
    kind: 'file',
    async verify(credential, known) {
      asked.push({ name: credential.name, password: credential.password, known });
      return (answer ?? byName)(credential);
    },
    calibrate: () => Promise.resolve({ kind: 'calibrated' }),
  };
  return { verifier, asked };
}

/** A start time; never 0. */
export function authenticating(verifier: Verifier, options: Partial<IdentityOptions> = {}) {
  const verifications: string[] = [];
  const authenticator = createAuthenticator({
    options: { ...IDENTITY_DEFAULTS, ...options },
    verifier,
    onVerification: (kind) => verifications.push(kind),
  });
  const askNow = (authorizationHeader: string | undefined, input: Partial<AuthenticationInput> = {}) =>
    authenticator.authenticate({
      authorizationHeader,
      clientAddress: () => '192.0.2.1',
      level: 'enforce',
      now: START,
      ...input,
    });
  /** A Basic header value. */
  const ask = async (...given: Parameters<typeof askNow>) => askNow(...given);
  return { authenticator, ask, askNow, verifications };
}

/** A verifier that responds at once, accepts names with equal passwords, and counts its calls. */
export async function refusalOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof GatewayError) return error;
  throw new Error('was not refused', { cause: error });
}
