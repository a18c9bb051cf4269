import type { Upstream } from './create-upstream.ts';
import { countsOf, sumOfStats, type UpstreamStats } from './upstream-stats.ts';

/** The upstream for new requests, and the replaced upstreams that are not yet closed. */
export interface Upstreams {
  readonly current: Upstream;
  /** Replaces the upstream. The previous upstream is closed once no request uses it. */
  use(upstream: Upstream): void;
  /** Starts the health probes of the current upstream and of each later replacement. */
  startProbes(): void;
  /** Returns the current upstream if the given one has been replaced. Otherwise, returns the given one. */
  latestOf(upstream: Upstream): Upstream;
  /** Returns the combined statistics of all upstreams. The circuit state is that of the current upstream. */
  stats(): UpstreamStats;
  /** Closes all upstreams. See {@link Upstream.close}. */
  close(graceMs?: number): Promise<void>;
}

/**
 * How long a replaced upstream stays open, in milliseconds. By the end of this time, all earlier requests have been
 * sent to it.
 */
const RETIRED_MS = 300_000;

/** Creates the record of upstreams. The current upstream is initially `first`. */
export function createUpstreams(first: Upstream, retiredMs = RETIRED_MS): Upstreams {
  let current = first;
  let isProbing = false;
  /** The replaced upstreams, each with the timer that will close it. */
  const retired = new Map<Upstream, NodeJS.Timeout>();
  const used = new WeakSet([first]);
  // The counts from closed upstreams are kept, because counters must not decrease.
  let closed: readonly UpstreamStats[] = [];
  const closeWhenUnused = (upstream: Upstream) => {
    const stats = upstream.stats();
    if (stats.inFlight + stats.queued + stats.streams > 0) {
      retire(upstream);
      return;
    }
    retired.delete(upstream);
    closed = [sumOfStats([...closed, countsOf(stats)])];
    upstream.close(0).catch(() => undefined);
  };
  const retire = (upstream: Upstream) =>
    void retired.set(upstream, setTimeout(closeWhenUnused, retiredMs, upstream).unref());
  return {
    get current() {
      return current;
    },
    use(upstream) {
      if (upstream === current) return;
      retire(current);
      current.runProbes(false);
      current = upstream;
      current.runProbes(isProbing);
      used.add(upstream);
    },
    startProbes() {
      isProbing = true;
      current.runProbes(true);
    },
    latestOf: (upstream) => (used.has(upstream) ? current : upstream),
    stats: () => sumOfStats([...[current, ...retired.keys()].map((one) => one.stats()), ...closed]),
    async close(graceMs) {
      for (const timer of retired.values()) clearTimeout(timer);
      const all = [current, ...retired.keys()];
      retired.clear();
      await Promise.all(all.map((upstream) => upstream.close(graceMs)));
    },
  };
}
