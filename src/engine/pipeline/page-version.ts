import { createHash } from 'node:crypto';
import type { OperationCacheOptions } from '../cache/cache-options.ts';
import type { Contract } from '../contract/load-contract.ts';
import type { IdentityOptions } from '../identity/identity-options.ts';
import type { AcceptedViolations } from '../model/acceptance.ts';
import type { Checks } from '../model/checks.ts';
import type { PlannedOperation } from './stage.ts';
import type { UpstreamAddress } from '../upstream/upstream-url.ts';
import type { UpstreamOptions } from '../upstream/upstream-options.ts';

/** The settings that are part of every page version. */
interface VersionedSettings {
  readonly upstream: Pick<UpstreamOptions, 'credentials' | 'permissionMessages' | 'responseHeaders'>;
  readonly authentication: Pick<IdentityOptions, 'verifier'>;
}

/**
 * Returns a function that returns an operation's page version. The page version is part of the keys for stored pages,
 * which outlive reloads and level changes. It therefore covers everything that determines which responses may be
 * stored, what a stored page contains, and which callers share the page.
 *
 * Settings that apply to each reply are not part of the version, because their stages are outside the cache:
 * permissions, redaction, page bounds and rewritten addresses. A page's key also contains the audience. If callers with
 * the same permissions share a page, the audience identifies these permissions.
 *
 * `accepted` returns a digest of the accepted violations. A page that was stored because its violations were accepted
 * must not be served, by any gateway, once they are not.
 */
export function createPageVersions(
  { upstream, authentication }: VersionedSettings,
  { contract, address }: { readonly contract: Pick<Contract, 'version'>; readonly address: UpstreamAddress },
  accepted: () => string,
): (planned: Omit<PlannedOperation, 'pageVersion'>) => string {
  const { credentials, permissionMessages, responseHeaders } = upstream;
  const account = credentials.kind === 'service' ? credentials.username : undefined;
  const common = [address, account, authentication.verifier, permissionMessages, responseHeaders];
  return ({ serviceCredential, checks, cache }) => {
    const stored = cache && { ...cache, store: storableVerdict(cache, checks) };
    return `${contract.version}.${digest([common, accepted(), serviceCredential, stored])}`;
  };
}

/**
 * Returns the worst verdict that still allows a page to be stored. For pages that are not checked, returns `unchecked`.
 */
function storableVerdict({ store }: OperationCacheOptions, { responses }: Checks): string {
  if (responses === 'off') return 'unchecked';
  // At the `enforce` level, a response with violations never reaches the cache.
  return store === 'wellFormed' && responses === 'enforce' ? 'accepted' : store;
}

/** Returns a digest of the accepted violations. */
export function digestOfAccepted(violations: Pick<AcceptedViolations, 'read'> | undefined): string {
  const accepted = violations?.read().accepted ?? [];
  return digest(accepted.map(({ fingerprint, expires }) => `${fingerprint} ${expires ?? ''}`).sort());
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
}
