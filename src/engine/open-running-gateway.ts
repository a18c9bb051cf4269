import type { Clock } from '../lib/clock.ts';
import type { PageCache } from './cache/memory-pages.ts';
import { acceptedSchemes } from './compile-gateway.ts';
import { explainRequest, type Explained } from './explain-request.ts';
import type { Service } from './model/service.ts';
import { permissionMatrix } from './permissions/permission-matrix.ts';
import type { GatewayControls, RunningGateway } from './running-gateway.ts';
import { sharedAcceptance } from './shared-acceptance.ts';
import type { Sharing } from './sharing/sharing.ts';
import type { Upstreams } from './upstream/upstreams.ts';

/** What the running gateway uses. */
export interface RunningNeeds {
  readonly clock: Clock;
  readonly controls: GatewayControls;
  readonly upstreams: Upstreams;
  readonly purge: RunningGateway['purge'];
  current(): (Explained & { readonly cache: PageCache; readonly sharing: Sharing; readonly clock: Clock }) | undefined;
}

/** What operators see and control. */
export const running: Service<RunningGateway, RunningNeeds> = {
  start({ clock, controls, upstreams, purge, current }) {
    const inUse = () => {
      const found = current();
      if (found === undefined) throw new Error('the gateway is not assembled yet');
      return found;
    };
    return {
      startedAt: clock(),
      readiness: controls.readiness,
      isClosing: controls.isClosing,
      reload: () => controls.reload('console'),
      publicAddress: controls.publicAddress,
      checksOf(id) {
        const { gateway, settings } = inUse();
        return gateway.plans.get(id)?.checks ?? settings.checks;
      },
      permissions() {
        const { permissions, contract } = inUse().start;
        return permissionMatrix(permissions, contract.operations);
      },
      schemes() {
        const { settings, features } = inUse();
        return [...new Set(acceptedSchemes(settings, features).map(({ name }) => name))];
      },
      accountAccess: (name) => inUse().start.permissions.accountAccess(name),
      explain: (request) => explainRequest(inUse(), request),
      upstreamStats: upstreams.stats,
      upstreamHealth: () => upstreams.current.health(),
      upstreamHistory: () => upstreams.current.history(),
      inventory: (query) => inUse().cache.inventory(query),
      purge,
      acceptance: () => sharedAcceptance(inUse()),
    };
  },
};
