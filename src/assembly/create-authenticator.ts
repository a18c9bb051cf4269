import type { Settings } from '../config/settings.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import { createAuthenticator as create } from '../identity/create-authenticator.ts';
import { createFileVerifier } from '../identity/file-verifier.ts';
import { createUpstreamVerifier } from '../identity/upstream-verifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import type { Upstream } from '../upstream/create-upstream.ts';

/** Chooses the verifier that the configuration names and puts the authenticator on it. */
export function createAuthenticator(
  settings: Settings,
  roles: RolesFile,
  upstream: Upstream,
  clock: Clock,
): Authenticator {
  const { authentication } = settings;
  const { probe: options, hashing, calibrationSeconds } = authentication;
  // `observe` asks the upstream nothing that no client asked: its own answers say whether a credential is right.
  const asksOnlyForClients = settings.mode.transparent && !refusesByIdentity(settings);
  const probe = asksOnlyForClients ? neverAsked : probeOf(upstream, options.path);
  const verifier =
    authentication.verifier === 'file'
      ? createFileVerifier(roles.accounts, hashing, roles.source)
      : createUpstreamVerifier({ probe, options, calibrationSeconds, clock });
  return create({ options: authentication, verifier });
}

/** Asks the upstream with a credential and looks at the status only. */
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

/** True when whether some request is refused depends on who is asking, so that credentials have to be verified. */
export function refusesByIdentity({ checksFor, operations }: Settings): boolean {
  return [undefined, ...Object.keys(operations)].some((id) => {
    const { authentication, permissions } = checksFor(id);
    // With authentication off nobody is verified, whatever permissions ask for.
    return authentication === 'enforce' || (authentication === 'report' && permissions === 'enforce');
  });
}

const neverAsked = () => Promise.reject(new Error('nothing is probed in observe'));
