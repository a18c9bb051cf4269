import type { Clock } from '../lib/clock.ts';
import type { AcceptedViolation } from './model/ledger-entry.ts';
import { permissionMatrix } from './permissions/permission-matrix.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { CompiledAssembly } from './compile-gateway.ts';
import { explainRequest } from './explain-request.ts';

/** Returns what operators see and control. `current` returns the gateway that new requests use. */
export function openRunningGateway(
  current: () => CompiledAssembly,
  parts: Pick<RunningGateway, 'readiness' | 'reload' | 'publicAddress'> & { readonly clock: Clock },
): RunningGateway {
  const { clock, ...given } = parts;
  const { upstreams, live, purge } = current().services;
  return {
    ...given,
    startedAt: clock(),
    checksOf(id) {
      const { gateway, settings } = current();
      return gateway.plans.get(id)?.checks ?? settings.checks;
    },
    permissions() {
      const { permissions, contract } = current().start;
      return permissionMatrix(permissions, contract.operations);
    },
    explain: (request) => explainRequest(current(), request),
    upstreamStats: upstreams.stats,
    upstreamHealth: () => upstreams.current.health(),
    upstreamHistory: () => upstreams.current.history(),
    inventory: (query) => live.cache.inventory(query),
    purge,
    acceptance: () => acceptanceOf(current(), clock),
  };
}

/** Returns the accepted violations, whose changes are announced to the other gateways, which then apply them. */
function acceptanceOf({ start, services }: CompiledAssembly, clock: Clock): ReturnType<RunningGateway['acceptance']> {
  const { baseline } = start;
  if (baseline === undefined) return undefined;
  const announce = async (fingerprint: string, accepted: AcceptedViolation | null) =>
    services.shared.sharing.changes.append({ kind: 'baseline', fingerprint, accepted, at: clock() });
  return {
    file: baseline.file,
    read: baseline.read,
    async accept(accepted) {
      await baseline.accept(accepted);
      await announce(accepted.fingerprint, accepted);
    },
    async withdraw(fingerprint) {
      const isWithdrawn = await baseline.withdraw(fingerprint);
      if (!isWithdrawn) return false;
      await announce(fingerprint, null);
      // Some pages may have been stored only because this violation was accepted, so all pages are purged.
      await services.purge('all');
      return true;
    },
  };
}
