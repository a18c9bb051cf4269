import type { Settings } from '../config/settings.ts';
import { type Authenticator, createAuthenticator } from '../identity/create-authenticator.ts';
import { createFileVerifier } from '../identity/file-verifier.ts';
import type { LoginLimits } from '../identity/login-limits.ts';
import type { Revocations } from '../identity/revocations.ts';
import { createUpstreamVerifier } from '../identity/upstream-verifier.ts';
import type { Verifier } from '../identity/verifier.ts';
import type { VerifierKind } from '../model/verifier-kind.ts';
import type { IdentityOptions } from '../identity/identity-options.ts';
import type { KeyedHash } from '../identity/verify-credential.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import type { Sessions } from '../upstream/sessions.ts';

/** The authentication state that outlives an authenticator, because a reload must not reset login limits. */
export interface LoginMemory {
  /** The keyed hash used to derive the audiences of unverified callers. */
  readonly hash: KeyedHash;
  readonly limits: LoginLimits;
  readonly revocations: Revocations;
}

/** The inputs of an authenticator that do not come from the settings. */
interface AuthenticatorParts {
  readonly roles: RolesFile;
  /** Sends a probe to the upstream that is current at the time of the call. */
  readonly exchange: Upstream['exchange'];
  /** The callers' sessions with the upstream. */
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly memory: LoginMemory;
}

/** Creates the authenticator with the configured verifier. */
export function openAuthenticator(
  settings: Settings,
  { roles, exchange, sessions, clock, memory }: AuthenticatorParts,
): Authenticator {
  const { authentication } = settings;
  const { probe: options, hashing, calibrationSeconds } = authentication;
  const probe = isPassive(settings) ? neverProbes : probeOf(exchange, sessions, options);
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

/** Returns a function that sends a credential to the upstream and returns the upstream's response. */
function probeOf(
  exchange: Upstream['exchange'],
  sessions: Sessions,
  { path: target, validStatuses }: IdentityOptions['probe'],
) {
  return async (authorization: string, signal: AbortSignal) => {
    const headers = [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['Authorization', authorization],
    ] as const;
    const session = sessions.ofProbe(authorization);
    const response = await exchange({ method: 'GET', target, headers, session, signal, mode: 'buffered' });
    if (response.status < 500 && !validStatuses.includes(response.status)) sessions.drop(authorization);
    return response;
  };
}

/**
 * Returns whether the gateway verifies no credentials. In `observe` mode, it sends no requests of its own, and learns
 * whether a credential is valid from the responses to client requests.
 */
export function isPassive(settings: Settings): boolean {
  return settings.mode.transparent && !refusesByIdentity(settings);
}

/** Returns whether credentials must be verified because some refusals depend on the caller's identity. */
export function refusesByIdentity({ checksFor, operations }: Settings): boolean {
  return [undefined, ...Object.keys(operations)].some((id) => {
    const { authentication, permissions } = checksFor(id);
    // If authentication is off, callers are not verified, regardless of the level of `permissions`.
    return authentication === 'enforce' || (authentication === 'report' && permissions === 'enforce');
  });
}

const neverProbes = () => Promise.reject(new Error('observe sends no probes'));
