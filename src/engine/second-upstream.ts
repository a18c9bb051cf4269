import type { Authenticator } from './identity/create-authenticator.ts';
import { type LoginMemory, openAuthenticator } from './identity/open-authenticator.ts';
import { verifierOf } from './identity/verifiers.ts';
import { createAuthorLookup, createOwnership } from './permissions/ownership.ts';
import { createLookup } from './pipeline/owner-lookup.ts';
import type { CompiledGateway, SecondSide } from './pipeline/compiled-gateway.ts';
import type { SecondUpstream, SideChoice } from './pipeline/sides.ts';
import { createCredentialProbe } from './upstream/credential-probe.ts';
import type { Upstream } from './upstream/create-upstream.ts';
import { createSessions } from './upstream/sessions.ts';
import type { UpstreamOptions } from './upstream/upstream-options.ts';
import type { PlanSources } from './compile-gateway.ts';
import type { RunningFeatures } from './run-features.ts';

/** What the gateway in front of a second upstream is compiled from, and what its callers are verified with. */
export interface SecondSources {
  readonly sources: PlanSources;
  /** The memory of verified credentials, to which revocations apply. Undefined if it is that of the first upstream. */
  readonly ownAuthenticator: Authenticator | undefined;
}

/** What is needed besides the sources of the plans. */
interface SecondNeeds extends PlanSources {
  readonly features: RunningFeatures;
  readonly credentialHash: LoginMemory['hash'];
  readonly loginLimits: LoginMemory['limits'];
  readonly revocations: LoginMemory['revocations'];
}

/**
 * Returns the sources of plans whose requests the second upstream serves. What is remembered about the upstream is
 * remembered apart. What does not depend on it, such as the contract, the levels and the memory for stored pages, is
 * shared.
 */
export function secondSources(needs: SecondNeeds, second: SecondUpstream): SecondSources {
  const { settings, start } = needs;
  const { address, options, upstream, serviceAuthorization } = second;
  const kept = keptOf(needs, second);
  return {
    ownAuthenticator: kept.authenticator === needs.authenticator ? undefined : kept.authenticator,
    sources: {
      ...needs,
      ...kept,
      settings: { ...settings, upstream: options },
      start: { ...start, address, serviceAuthorization },
      upstream,
    },
  };
}

/** What is remembered about an upstream. */
type Kept = Pick<PlanSources, 'sessions' | 'lookUp' | 'ownership' | 'authenticator'>;

/**
 * What is remembered about second upstreams. A reload that replaces neither the upstream nor what the first gateway
 * remembers does not lose it.
 */
const remembered = new WeakMap<Upstream, { readonly key: readonly unknown[]; readonly kept: Kept }>();

function keptOf(needs: SecondNeeds, { upstream, options }: SecondUpstream): Kept {
  const key = [needs.authenticator, needs.ownership, needs.sessions];
  const known = remembered.get(upstream);
  if (known?.key.every((one, index) => one === key[index]) === true) return known.kept;
  const kept = createKept(needs, upstream, options);
  remembered.set(upstream, { key, kept });
  return kept;
}

function createKept(needs: SecondNeeds, upstream: Upstream, options: UpstreamOptions): Kept {
  const { settings, start, clock, credentialHash: hash, loginLimits: limits, revocations } = needs;
  const { authentication, permissions, roles } = settings;
  const sessions = createSessions(options.sessionCookies, clock);
  const lookUp = createLookup(upstream, sessions);
  const ownership = createOwnership(
    permissions.ownership,
    clock,
    roles.names,
    createAuthorLookup(permissions.ownership, lookUp),
  );
  const probe = createCredentialProbe((request) => upstream.exchange(request), sessions, authentication.probe);
  const authenticator = verifierOf(authentication).asksUpstream
    ? openAuthenticator(settings, {
        roles: start.roles,
        clock,
        probe,
        memory: { hash, limits: ofSecond(limits), revocations },
      })
    : needs.authenticator;
  return { sessions, lookUp, ownership, authenticator };
}

/** Counts failed logins apart: whoever the second upstream does not know is not refused at the first one. */
const ofSecond = ({ begin }: LoginMemory['limits']): LoginMemory['limits'] => ({
  begin: (network, name, claim) => begin(apart(network), name === undefined ? undefined : apart(name), claim),
});
/** Neither a network nor a name contains a space at the beginning. */
const apart = (text: string) => ` second ${text}`;

/** Joins the gateways in front of the two upstreams to one, which decides for each request which of them serves it. */
export function withSecondSide(
  first: CompiledGateway,
  gateway: CompiledGateway,
  { sides, usesSecond }: SideChoice,
  { authentication }: { readonly authentication: Parameters<typeof verifierOf>[0] },
): CompiledGateway {
  const { scheme } = verifierOf(authentication);
  const claimedName: SecondSide['claimedName'] = (authorization) => {
    if (authorization === undefined) return NOBODY;
    const credential = scheme.read(authorization);
    if (credential === undefined) return 'later';
    return credential === 'malformed' ? NOBODY : credential;
  };
  return {
    ...first,
    recompile(id) {
      first.recompile(id);
      gateway.recompile(id);
    },
    second: { gateway, sides, usesSecond, claimedName },
  };
}

const NOBODY = { name: undefined };
