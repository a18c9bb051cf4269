import type { Upstream } from './create-upstream.ts';
import { countsOf, sumOfStats, type UpstreamStats } from './upstream-stats.ts';

/** The upstream for new requests, and the replaced upstreams that are not yet closed. */
export interface Upstreams {
  readonly current: Upstream;
  /** Makes new requests use an upstream. */
  use(upstream: Upstream): void;
  /** Closes an upstream that new requests do not use, once no request uses it. */
  retire(upstream: Upstream): Promise<void>;
  /** Starts the health probes of the current upstream and of each later replacement. */
  startProbes(): void;
  /**
   * Returns the function that sends requests to the given upstream until new requests use it, and from then on to the
   * upstream that they use.
   */
  latest(upstream: Upstream): Upstream['exchange'];
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
  const used = new WeakSet([first]);
  /** The upstreams that have been used and are not closed. */
  const open = new Set([first]);
  /** The timers that will close replaced upstreams. */
  const timers = new Map<Upstream, NodeJS.Timeout>();
  // The counts from closed upstreams are kept, because counters must not decrease.
  let closed: readonly UpstreamStats[] = [];
  const closeWhenUnused = (upstream: Upstream) => {
    const stats = upstream.stats();
    if (stats.inFlight + stats.queued + stats.streams > 0) {
      closeLater(upstream);
      return;
    }
    timers.delete(upstream);
    open.delete(upstream);
    closed = [sumOfStats([...closed, countsOf(stats)])];
    upstream.close(0).catch(() => undefined);
  };
  const closeLater = (upstream: Upstream) =>
    void timers.set(upstream, setTimeout(closeWhenUnused, retiredMs, upstream).unref());
  return {
    get current() {
      return current;
    },
    use(upstream) {
      if (upstream === current) return;
      current.runProbes(false);
      current = upstream;
      current.runProbes(isProbing);
      used.add(upstream);
      open.add(upstream);
    },
    async retire(upstream) {
      if (open.has(upstream)) closeLater(upstream);
      // One that has never been used need not wait for requests.
      else if (!used.has(upstream)) await upstream.close(0);
    },
    startProbes() {
      isProbing = true;
      current.runProbes(true);
    },
    latest: (upstream) => (request) => (used.has(upstream) ? current : upstream).exchange(request),
    stats: () => sumOfStats([...new Set([current, ...open])].map((one) => one.stats()).concat(closed)),
    async close(graceMs) {
      for (const timer of timers.values()) clearTimeout(timer);
      const all = [...open];
      open.clear();
      await Promise.all(all.map((upstream) => upstream.close(graceMs)));
    },
  };
}
