import type { NameRule } from '../model/caller-name.ts';
import type { Checks } from '../model/checks.ts';
import { type Authenticator, createAuthenticator } from './create-authenticator.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { LoginLimits } from './login-limits.ts';
import type { Revocations } from './revocations.ts';
import { createUpstreamPasswords, type UpstreamPasswords } from './upstream-passwords.ts';
import { upstreamVerifier } from './upstream-verifier.ts';
import type { Probe, VerifierParts } from './verifier.ts';
import { verifierOf } from './verifiers.ts';
import type { KeyedHash } from './verify-credential.ts';

/** The settings that determine whether and how credentials are verified. */
export interface IdentitySettings {
  readonly authentication: IdentityOptions;
  readonly mode: { readonly transparent: boolean };
  readonly roles: { readonly names: NameRule };
  /** The keys are the ids of operations with levels of their own. */
  readonly operations: Readonly<Record<string, unknown>>;
  checksFor(operationId: string | undefined): Checks;
}

/** The authentication state that outlives an authenticator, because a reload must not reset login limits. */
export interface LoginMemory {
  /** The keyed hash used to derive the audiences of unverified callers. */
  readonly hash: KeyedHash;
  readonly limits: LoginLimits;
  readonly revocations: Revocations;
}

/** What an authenticator verifies credentials with, besides the settings. */
export interface AuthenticatorParts extends Pick<VerifierParts, 'roles' | 'clock'> {
  /** Sends a credential to the upstream that is current at the time of the call. */
  readonly probe: Probe;
  readonly memory: LoginMemory;
}

/** Creates the authenticator with the configured verifier. */
export function openAuthenticator(settings: IdentitySettings, { memory, ...parts }: AuthenticatorParts): Authenticator {
  const { authentication } = settings;
  const verifiers = [verifierOf(authentication).open(verifierParts(settings, parts))];
  return createAuthenticator({ options: authentication, verifiers, ...memory });
}

/** Creates what asks the upstream whether passwords are right. Where the gateway sends no probes, it never can tell. */
export function openUpstreamPasswords(
  settings: IdentitySettings,
  { memory, ...parts }: AuthenticatorParts,
): UpstreamPasswords {
  const verifier = upstreamVerifier.open(verifierParts(settings, parts));
  return createUpstreamPasswords({ verifier, options: settings.authentication, ...memory, clock: parts.clock });
}

/**
 * Creates an authenticator that decides like the gateway's, but regards every password as right. Nothing is sent, login
 * limits do not apply, and nothing is counted.
 */
export function openTrustingAuthenticator(
  settings: IdentitySettings,
  { memory, ...parts }: Omit<AuthenticatorParts, 'probe' | 'memory'> & { readonly memory: Pick<LoginMemory, 'hash'> },
): Authenticator {
  const { authentication } = settings;
  return createAuthenticator({
    options: authentication,
    verifiers: [verifierOf(authentication).openTrusting(verifierParts(settings, { ...parts, probe: sendsNothing }))],
    hash: memory.hash,
    limits: { begin: () => ({ limited: undefined, withdraw: nothing, loggedIn: nothing }) },
    revocations: { announce: () => Promise.resolve(), mayTrust: undefined },
  });
}

const nothing = () => undefined;

const sendsNothing = () => Promise.reject(new Error('a dry run sends no probes'));

function verifierParts(
  settings: IdentitySettings,
  { probe, ...parts }: Omit<AuthenticatorParts, 'memory'>,
): VerifierParts {
  const { authentication: options, roles } = settings;
  return { ...parts, options, names: roles.names, probe: isPassive(settings) ? undefined : probe };
}

/**
 * Returns whether the gateway verifies no credentials. In `observe` mode, it sends no requests of its own, and learns
 * whether a credential is valid from the responses to client requests.
 */
export function isPassive(settings: IdentitySettings): boolean {
  return settings.mode.transparent && !refusesByIdentity(settings);
}

/** Returns whether credentials must be verified because some refusals depend on the caller's identity. */
export function refusesByIdentity({
  checksFor,
  operations,
}: Pick<IdentitySettings, 'checksFor' | 'operations'>): boolean {
  return [undefined, ...Object.keys(operations)].some((id) => {
    const { authentication, permissions } = checksFor(id);
    // If authentication is off, callers are not verified, regardless of the level of `permissions`.
    return authentication === 'enforce' || (authentication === 'report' && permissions === 'enforce');
  });
}
