import type { Profile } from '../contract/api-profile.ts';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Operation } from '../model/operation.ts';
import type { Service } from '../model/service.ts';
import { createUpstream, type Upstream } from './create-upstream.ts';
import { type CredentialProbe, createCredentialProbe } from './credential-probe.ts';
import type { AddressChange } from './pool/address-pool.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStartupProbe, type StartupProbe } from './startup-probe.ts';
import type { CircuitChange } from './upstream-gate.ts';
import { type LimitedBy, observesLimits, type UpstreamOptions } from './upstream-options.ts';
import type { UpstreamAddress } from './upstream-url.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';

/** What the services of this folder use. */
export interface UpstreamNeeds {
  readonly settings: LimitedBy & {
    readonly embedded: boolean;
    readonly profile: Pick<Profile, 'basePath' | 'serverErrors'>;
    readonly upstream: UpstreamOptions;
    readonly authentication: { readonly probe: Parameters<typeof createCredentialProbe>[2] };
  };
  readonly start: {
    readonly address: UpstreamAddress;
    readonly contract: { readonly operations: readonly Operation[] };
    readonly serviceAuthorization: string | undefined;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly upstream: Upstream;
  readonly upstreams: Upstreams;
  readonly sessions: Sessions;
}

/** Sends requests to the legacy server. */
export const upstream: Service<Upstream, UpstreamNeeds> = {
  dependsOn({ settings, start: { address } }) {
    // These options concern only messages, or the startup.
    const {
      credentials: _,
      permissionMessages: __,
      legacyOrigins: ___,
      startupProbe: ____,
      ...options
    } = settings.upstream;
    return [address, options, observesLimits(settings)];
  },
  start: ({ settings, start: { address }, clock, logger }) =>
    createUpstream(address, settings.upstream, clock, listenersOf(logger, settings.upstream), observesLimits(settings)),
  close: (replaced, _graceMs, { upstreams: all }) => all.retire(replaced),
};

/** The upstream in use, and those that a reload has replaced but that requests still use. */
export const upstreams: Service<Upstreams, UpstreamNeeds> = {
  start: ({ upstream: first }) => createUpstreams(first),
  open: (all) => all.startProbes(),
  use: (all, { upstream: next }) => all.use(next),
  close: (all) => all.close(0),
};

/** The callers' sessions with the upstream. They outlive a change of the upstream's address or limits. */
export const sessions: Service<Sessions, UpstreamNeeds> = {
  dependsOn: ({ settings }) => settings.upstream.sessionCookies,
  start: ({ settings, clock }) => createSessions(settings.upstream.sessionCookies, clock),
};

/** Sends credentials to the upstream, for the verifier. */
export const credentialProbe: Service<CredentialProbe, UpstreamNeeds> = {
  dependsOn: ({ settings, upstream: own, sessions: known }) => [settings.authentication.probe, own, known],
  start: ({ settings: { authentication }, upstream: own, upstreams: all, sessions: known }) =>
    createCredentialProbe(all.latest(own), known, authentication.probe),
};

/** Tests the address of a real upstream once, after the start. */
export const startupProbe: Service<StartupProbe, UpstreamNeeds> = {
  start: ({ settings, start: { contract, serviceAuthorization }, upstreams: all, logger }) =>
    createStartupProbe(settings, { upstreams: all, logger }, contract.operations, serviceAuthorization),
  open: (probe) => probe.send(),
  close: (probe) => probe.cancel(),
};

/** Returns functions that log what happens to the upstream. */
function listenersOf(logger: Logger, { circuit: { openSeconds } }: UpstreamOptions) {
  return {
    /** Logs when the circuit opens, including the last failure, and when it closes. */
    onCircuit({ opened, openMs, failure }: CircuitChange) {
      if (opened) {
        const fields = { circuit: 'open', ...failure, trialAfterSeconds: openSeconds };
        logger.warn(fields, 'the circuit opened: requests to the upstream are paused until a trial succeeds');
      } else {
        logger.info({ circuit: 'closed', openForSeconds: openMs / 1000 }, 'the circuit closed: a trial succeeded');
      }
    },
    /** Logs that an upstream address has been ejected or is back in use. */
    onAddress({ address, ejectedSeconds }: AddressChange) {
      if (ejectedSeconds > 0)
        logger.warn(
          { address, ejectedSeconds },
          'requests to this address of the upstream keep failing: it is not used for a while',
        );
      else logger.info({ address }, 'this address of the upstream responds and is used again');
    },
  };
}
