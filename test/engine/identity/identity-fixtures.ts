import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import { type AuthenticationInput, createAuthenticator } from '../../../src/engine/identity/create-authenticator.ts';
import { IDENTITY_DEFAULTS, type IdentityOptions } from '../../../src/engine/identity/identity-options.ts';
import { BASIC_SCHEME } from '../../../src/engine/identity/basic-scheme.ts';
import type { BasicCredential } from '../../../src/lib/basic-credentials.ts';
import type { Verification, Verifier } from '../../../src/engine/identity/verifier.ts';
import { createLoginLimits, type LoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createRevocations, type Revocations } from '../../../src/engine/identity/revocations.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';

/** The time at which the test clocks start. It is deliberately not 0. */
export const START = Date.UTC(2024, 4, 1);

/** Returns the value of a Basic `Authorization` header. */
export const basic = (name: string, password: string = name) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const byName = ({ name, password }: BasicCredential): Verification => ({
  kind: name === password ? 'valid' : 'invalid',
});

/** Creates a verifier that records its calls. By default, it accepts a password that equals the name. */
export function fakeVerifier(decide?: (credential: BasicCredential) => Verification | Promise<Verification>) {
  const asked: { name: string; password: string; known: boolean }[] = [];
  const verifier: Verifier<BasicCredential> = {
    scheme: BASIC_SCHEME,
    asksUpstream: false,
    async verify(credential, known) {
      asked.push({ name: credential.name, password: credential.password, known });
      return (decide ?? byName)(credential);
    },
    calibrate: () => Promise.resolve({ kind: 'calibrated' }),
  };
  return { verifier, asked };
}

/**
 * Creates an authenticator with the given verifier, or with several. `ask` and `askNow` pass an `Authorization` header to it, with
 * defaults for all other input.
 */
export function authenticating(
  verifier: Verifier | readonly Verifier[],
  options: Partial<IdentityOptions> = {},
  hash = createKeyedHash(),
  shared?: { readonly limits: LoginLimits; readonly revocations: Revocations },
) {
  const allOptions = { ...IDENTITY_DEFAULTS, ...options };
  const time = { now: START };
  const sharing = openAlone(() => time.now);
  const authenticator = createAuthenticator({
    options: allOptions,
    verifiers: [verifier].flat(),
    hash,
    ...(shared ?? {
      limits: createLoginLimits(sharing.windows('logins', allOptions.failures.maxPairs), allOptions.failures),
      revocations: createRevocations(sharing, () => true),
    }),
  });
  const askNow = (authorizationHeader: string | undefined, input: Partial<AuthenticationInput> = {}) => {
    time.now = input.now ?? START;
    return authenticator.authenticate({
      authorizationHeader,
      clientAddress: () => '192.0.2.1',
      level: 'enforce',
      now: START,
      ...input,
    });
  };
  /** Always returns a promise, even if the result is available synchronously. */
  const ask = async (...given: Parameters<typeof askNow>) => askNow(...given);
  return { authenticator, ask, askNow };
}

/** Returns the error with which a request was refused. Throws if the request was not refused. */
export async function refusalOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof GatewayError) return error;
  throw new Error('was not refused', { cause: error });
}
