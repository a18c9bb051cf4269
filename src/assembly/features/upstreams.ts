import type { Upstream, UpstreamStats } from '../../upstream/create-upstream.ts';

/** The upstream for new requests, and replaced upstreams that have not been closed yet. */
export interface Upstreams {
  readonly current: Upstream;
  /**
   * Replaces the upstream. Requests in progress continue to use the previous upstream, which is closed when it is no
   * longer in use.
   */
  use(upstream: Upstream): void;
  /** Starts the health probes of the current upstream and of those that replace it. */
  startProbes(): void;
  /** Returns the current upstream if the given one is or was the current one. Otherwise, returns the given one. */
  latestOf(upstream: Upstream): Upstream;
  /** Returns the combined numbers of all upstreams. The state of the circuit is that of the current upstream. */
  stats(): UpstreamStats;
  /** Closes all upstreams. See {@link Upstream.close}. */
  close(graceMs?: number): Promise<void>;
}

const RETRY_OUTCOMES = ['succeeded', 'failed', 'refused'] as const;

// Long enough for every request that began before the replacement to reach the upstream.
const RETIRED_MS = 300_000;

/** Adds up the numbers of several upstreams. The state of the circuit is that of the first one. */
export function sumOfStats(all: readonly UpstreamStats[]): UpstreamStats {
  const sum = (of: (stats: UpstreamStats) => number) => all.reduce((total, stats) => total + of(stats), 0);
  const [first] = all;
  if (first === undefined) throw new Error('there are no upstreams to add');
  return {
    ...first,
    inFlight: sum(({ inFlight }) => inFlight),
    queued: sum(({ queued }) => queued),
    streams: sum(({ streams }) => streams),
    openConnections: sum(({ openConnections }) => openConnections),
    limitsExceeded: sum(({ limitsExceeded }) => limitsExceeded),
    retries: {
      succeeded: sum(({ retries }) => retries.succeeded),
      failed: sum(({ retries }) => retries.failed),
      refused: sum(({ retries }) => retries.refused),
    },
  };
}

/** Creates the record of the upstreams, which initially contains only the first one. */
export function createUpstreams(first: Upstream, retiredMs = RETIRED_MS): Upstreams {
  let current = first;
  let isProbing = false;
  /** The upstreams that were replaced, each with the timer that will close it. */
  const retired = new Map<Upstream, NodeJS.Timeout>();
  const used = new WeakSet([first]);
  // Counters must not decrease when an upstream is closed.
  const closed = { limitsExceeded: 0, retries: { succeeded: 0, failed: 0, refused: 0 } };
  const closeWhenUnused = (upstream: Upstream) => {
    const { inFlight, queued, streams, limitsExceeded, retries } = upstream.stats();
    if (inFlight + queued + streams > 0) {
      retire(upstream);
      return;
    }
    retired.delete(upstream);
    closed.limitsExceeded += limitsExceeded;
    for (const outcome of RETRY_OUTCOMES) closed.retries[outcome] += retries[outcome];
    upstream.close(0).catch(() => undefined);
  };
  const retire = (upstream: Upstream) => {
    retired.set(upstream, setTimeout(() => closeWhenUnused(upstream), retiredMs).unref());
  };
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
    stats() {
      const idle = { inFlight: 0, queued: 0, streams: 0, openConnections: 0 };
      const all = [current, ...retired.keys()].map((one) => one.stats());
      return { ...current.stats(), ...sumOfStats([...all, { ...current.stats(), ...idle, ...closed }]) };
    },
    async close(graceMs) {
      for (const timer of retired.values()) clearTimeout(timer);
      const all = [current, ...retired.keys()];
      retired.clear();
      await Promise.all(all.map((upstream) => upstream.close(graceMs)));
    },
  };
}
