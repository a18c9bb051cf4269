import { toAuthorization } from '../../lib/basic-credentials.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { LoginLimits } from './login-limits.ts';
import { createRefusals } from './refusals.ts';
import type { Verifier } from './verifier.ts';
import { createCredentialCheck, type KeyedHash } from './verify-credential.ts';

/** Asks the upstream whether passwords are right, whatever verifies those with which callers log in. */
export interface UpstreamPasswords {
  /**
   * Returns whether the upstream accepts a password for a name. Each attempt counts as a login from the client's address.
   * Rejects with a `GatewayError` after too many attempts, and if the upstream cannot tell.
   */
  accepts(name: string, password: string, clientAddress: string): Promise<boolean>;
}

/** Creates what asks the upstream, with its own memory, so that no password becomes a way to log in. */
export function createUpstreamPasswords(parts: {
  readonly verifier: Verifier;
  readonly options: IdentityOptions;
  readonly hash: KeyedHash;
  readonly limits: LoginLimits;
  readonly clock: Clock;
}): UpstreamPasswords {
  const { verifier, options, hash, limits, clock } = parts;
  const check = createCredentialCheck({ options, hash, limits, revocations: { mayTrust: undefined } });
  const refusals = createRefusals([verifier.scheme], options.realm);
  return {
    async accepts(name, password, clientAddress) {
      const credential = verifier.scheme.read(toAuthorization(name, password));
      // Nobody could log in with such a name or password.
      if (credential === undefined || credential === 'malformed') return false;
      const verdict = await check.verify(verifier, credential, clientAddress, clock());
      if (verdict.kind === 'valid' || verdict.kind === 'invalid') return verdict.kind === 'valid';
      throw refusals.of(verdict, verifier.scheme);
    },
  };
}
