import type { Settings } from '../config/settings.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import { createAuthenticator as create } from '../identity/create-authenticator.ts';
import { createFileVerifier } from '../identity/file-verifier.ts';
import { createUpstreamVerifier } from '../identity/upstream-verifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import type { Upstream } from '../upstream/create-upstream.ts';

/** Creates the authenticator with the configured verifier. */
export function createAuthenticator(
  settings: Settings,
  roles: RolesFile,
  upstream: Upstream,
  clock: Clock,
): Authenticator {
  const { authentication } = settings;
  const { probe: options, hashing, calibrationSeconds } = authentication;
  // The mode `observe` sends no requests of its own. Responses to clients show whether a credential is valid.
  const isPassive = settings.mode.transparent && !refusesByIdentity(settings);
  const probe = isPassive ? neverProbes : probeOf(upstream, options.path);
  const verifier =
    authentication.verifier === 'file'
      ? createFileVerifier(roles.accounts, hashing, roles.source)
      : createUpstreamVerifier({ probe, options, calibrationSeconds, clock });
  return create({ options: authentication, verifier });
}

/** Returns a function that sends a credential to the upstream and returns the upstream's response. */
function probeOf(upstream: Upstream, target: string) {
  return async (authorization: string, signal: AbortSignal) => {
    const headers = [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['Authorization', authorization],
    ] as const;
    return upstream.exchange({ method: 'GET', target, headers, signal, mode: 'buffered' });
  };
}

/** Returns whether credentials must be verified because refusals depend on the caller's identity. */
export function refusesByIdentity({ checksFor, operations }: Settings): boolean {
  return [undefined, ...Object.keys(operations)].some((id) => {
    const { authentication, permissions } = checksFor(id);
    // If authentication is off, callers are not verified, whatever the `permissions` level.
    return authentication === 'enforce' || (authentication === 'report' && permissions === 'enforce');
  });
}

const neverProbes = () => Promise.reject(new Error('observe sends no probes'));
