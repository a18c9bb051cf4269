import { createUpstream, type Upstream } from '../../engine/upstream/create-upstream.ts';
import type { UpstreamOptions } from '../../engine/upstream/upstream-options.ts';
import { createUpstreams, type Upstreams } from '../../engine/upstream/upstreams.ts';
import type { UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CircuitChange } from '../../engine/upstream/upstream-gate.ts';

/** The upstreams of the new server. One that a reload replaces is closed once no request uses it. */
export interface NewServers {
  /** Returns the upstream with these options: that in use, if nothing has changed. */
  open(address: UpstreamAddress, options: UpstreamOptions): Upstream;
  /** Makes it the one in use. */
  use(upstream: Upstream): void;
  /** Says that one run of the feature does not use it any more. */
  leave(upstream: Upstream): void;
  startProbes(): void;
  isPaused(): boolean;
  /** Makes requests continue at once. */
  closeCircuit(): void;
  close(graceMs: number): Promise<void>;
}

/** Creates the record of upstreams, which outlives reloads. */
export function createNewServers(clock: Clock, onCircuit: (change: CircuitChange) => void): NewServers {
  let all: Upstreams | undefined;
  let isProbing = false;
  const users = new Map<Upstream, { readonly key: string; count: number }>();
  return {
    open(address, options) {
      const key = JSON.stringify([address, options]);
      const known = [...users].find(([, one]) => one.key === key);
      if (known !== undefined) {
        known[1].count += 1;
        return known[0];
      }
      const created = createUpstream(address, options, clock, { onCircuit });
      users.set(created, { key, count: 1 });
      return created;
    },
    use(upstream) {
      if (all === undefined) {
        all = createUpstreams(upstream);
        if (isProbing) all.startProbes();
      } else all.use(upstream);
    },
    leave(upstream) {
      const one = users.get(upstream);
      if (one === undefined) return;
      one.count -= 1;
      if (one.count > 0) return;
      users.delete(upstream);
      if (all === undefined) void upstream.close(0);
      else void all.retire(upstream);
    },
    startProbes() {
      isProbing = true;
      all?.startProbes();
    },
    isPaused: () => all !== undefined && all.stats().circuit !== 'closed',
    closeCircuit: () => all?.current.closeCircuit(),
    async close(graceMs) {
      await all?.close(graceMs);
    },
  };
}
