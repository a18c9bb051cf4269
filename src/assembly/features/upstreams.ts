import type { Upstream, UpstreamStats } from '../../upstream/create-upstream.ts';

/** The upstream for new requests, and the replaced upstreams that are not closed yet. */
export interface Upstreams {
  readonly current: Upstream;
  /**
   * Replaces the upstream. Requests in progress continue to use the previous upstream, which is closed once no request
   * uses it.
   */
  use(upstream: Upstream): void;
  /** Starts the health probes of the current upstream and of each upstream that replaces it. */
  startProbes(): void;
  /** Returns the current upstream if the given one is or was current, or else the given one. */
  latestOf(upstream: Upstream): Upstream;
  /** Returns the combined statistics of all upstreams. The circuit state is that of the current upstream. */
  stats(): UpstreamStats;
  /** Closes all upstreams. See {@link Upstream.close}. */
  close(graceMs?: number): Promise<void>;
}

const RETRY_OUTCOMES = ['succeeded', 'failed', 'refused'] as const;

// How long a replaced upstream stays open, in milliseconds. Every request that began before the replacement has reached
// the upstream by then.
const RETIRED_MS = 300_000;

/** Adds up the statistics of several upstreams. The circuit state is that of the first upstream. */
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

/** Creates the record of upstreams, with `first` as the current upstream. */
export function createUpstreams(first: Upstream, retiredMs = RETIRED_MS): Upstreams {
  let current = first;
  let isProbing = false;
  /** The replaced upstreams, each with the timer that will close the upstream. */
  const retired = new Map<Upstream, NodeJS.Timeout>();
  const used = new WeakSet([first]);
  // The counts of closed upstreams, because counters must not decrease.
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
