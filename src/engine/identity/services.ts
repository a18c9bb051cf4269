import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Fault } from '../model/fault.ts';
import type { Service } from '../model/service.ts';
import type { Sharing } from '../sharing/sharing.ts';
import { createVerifierTests, type VerifierTests } from './verifier-tests.ts';
import type { Authenticator } from './create-authenticator.ts';
import { createLoginLimits, type LoginLimits } from './login-limits.ts';
import {
  type AuthenticatorParts,
  type IdentitySettings,
  isPassive,
  openAuthenticator,
  openUpstreamPasswords,
  refusesByIdentity,
} from './open-authenticator.ts';
import { createRevocations, type Revocations } from './revocations.ts';
import type { UpstreamPasswords } from './upstream-passwords.ts';
import type { Probe, VerifierParts } from './verifier.ts';
import { verifierOf } from './verifiers.ts';
import { createKeyedHash, type KeyedHash } from './verify-credential.ts';

/** What the services of this folder use. */
export interface IdentityNeeds {
  readonly settings: IdentitySettings & {
    readonly upstream: { readonly sessionCookies: readonly string[] };
    placeOf(pointer: string): Pick<Fault, 'source' | 'pointer'>;
  };
  readonly start: {
    readonly roles: VerifierParts['roles'];
    /** The address of the upstream. */
    readonly address: unknown;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sharing: Sharing;
  readonly changeFollower: { mayServe(asOf: number): boolean };
  readonly credentialProbe: Probe;
  readonly credentialHash: KeyedHash;
  readonly loginLimits: LoginLimits;
  readonly revocations: Revocations;
  readonly authenticator: Authenticator;
}

/** Revokes verified credentials on all gateways. */
export const revocations: Service<Revocations, IdentityNeeds> = {
  start: ({ sharing, changeFollower: { mayServe } }) => createRevocations(sharing, mayServe),
  use: (all, { authenticator: inUse }) => all.applyTo(inUse),
};

/** The keyed hash from which the audiences of unverified callers derive. */
export const credentialHash: Service<KeyedHash, IdentityNeeds> = { start: () => createKeyedHash() };

/** The limits on failed logins. Other changes of the configuration must not reset them. */
export const loginLimits: Service<LoginLimits, IdentityNeeds> = {
  dependsOn: ({ settings }) => settings.authentication.failures,
  start: ({
    settings: {
      authentication: { failures },
    },
    sharing: { windows },
  }) => createLoginLimits(windows('logins', failures.maxPairs), failures),
};

const authenticatorParts = ({
  start: { roles },
  clock,
  credentialProbe: probe,
  credentialHash: hash,
  loginLimits: limits,
  ...rest
}: IdentityNeeds): AuthenticatorParts => ({
  roles,
  probe,
  clock,
  memory: { hash, limits, revocations: rest.revocations },
});

/** Determines who sends a request. */
export const authenticator: Service<Authenticator, IdentityNeeds> = {
  dependsOn({ settings, start: { address, roles } }) {
    const {
      authentication,
      roles: { names },
      upstream: { sessionCookies },
    } = settings;
    const { readsPasswords } = verifierOf(authentication);
    const passwords = readsPasswords ? roles.accounts.map((one) => [one.name, one.passwordHash, names]) : [];
    return [authentication, isPassive(settings), address, passwords, sessionCookies];
  },
  start: (needs) => openAuthenticator(needs.settings, authenticatorParts(needs)),
};

/** Asks the upstream whether passwords are right. */
export const upstreamPasswords: Service<UpstreamPasswords, IdentityNeeds> = {
  dependsOn: ({ settings, start: { address } }) => [
    settings.authentication,
    isPassive(settings),
    address,
    settings.upstream.sessionCookies,
  ],
  start: (needs) => openUpstreamPasswords(needs.settings, authenticatorParts(needs)),
};

/** The tests of the verifier. A reload tests a new verifier before it is used for requests. */
export const verifierTests: Service<VerifierTests, IdentityNeeds> = {
  dependsOn: ({ settings, authenticator: tested }) => [tested, refusesByIdentity(settings)],
  start: ({ settings, authenticator: tested, logger }, earlier) =>
    createVerifierTests(settings, { authenticator: tested, logger, mustRespond: earlier !== undefined }),
  open: (tests) => tests.begin(),
  close: (tests) => tests.stop(),
};
