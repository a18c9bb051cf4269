import type { Clock } from '../../lib/clock.ts';
import type { NameRule } from '../model/caller-name.ts';
import type { Checks } from '../model/checks.ts';
import type { VerifierKind } from '../model/verifier-kind.ts';
import { type Authenticator, createAuthenticator } from './create-authenticator.ts';
import { createFileVerifier, type FileAccount } from './file-verifier.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { LoginLimits } from './login-limits.ts';
import type { Revocations } from './revocations.ts';
import { createUpstreamVerifier, type Probe } from './upstream-verifier.ts';
import type { Verifier } from './verifier.ts';
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

/** The inputs of an authenticator that do not come from the settings. */
interface AuthenticatorParts {
  readonly roles: { readonly source: string; readonly accounts: readonly FileAccount[] };
  /** Sends a credential to the upstream that is current at the time of the call. */
  readonly probe: Probe;
  readonly clock: Clock;
  readonly memory: LoginMemory;
}

/** Creates the authenticator with the configured verifier. */
export function openAuthenticator(
  settings: IdentitySettings,
  { roles, probe: sendProbe, clock, memory }: AuthenticatorParts,
): Authenticator {
  const { authentication } = settings;
  const { probe: options, hashing, calibrationSeconds } = authentication;
  const probe = isPassive(settings) ? neverProbes : sendProbe;
  const create = (kind: VerifierKind): Verifier => {
    switch (kind) {
      case 'file':
        return createFileVerifier(roles.accounts, hashing, roles.source, settings.roles.names);
      case 'upstream':
        return createUpstreamVerifier({ probe, options, calibrationSeconds, clock });
      default:
        return unknownVerifier(kind);
    }
  };
  return createAuthenticator({ options: authentication, verifier: create(authentication.verifier), ...memory });
}

/** Causes a compile error if `openAuthenticator` does not handle a kind of verifier. */
function unknownVerifier(kind: never): never {
  throw new Error(`there is no verifier ${String(kind)}`);
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

const neverProbes = () => Promise.reject(new Error('observe sends no probes'));
