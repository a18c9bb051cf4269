import type { Rounds } from './scenario.ts';

/** The amount of work of a run. */
export interface Effort {
  readonly name: 'full' | 'quick';
  /** The rows that targets are computed from. */
  readonly main: Rounds;
  /** Rows that show how cost grows. */
  readonly side: Rounds;
  /** Duration of the warm-up of each server in seconds. V8 needs it, and all servers get the same. */
  readonly warmSeconds: number;
  /** Scenarios that run only if they are selected by name. */
  readonly without: readonly string[];
  /** Servers that are omitted: the id of a peer, or the ids of a scenario and a peer, separated by a slash. */
  readonly withoutPeers: readonly string[];
  /** The numbers of distinct keys in the scenario about keys, in ascending order. */
  readonly keys: readonly number[];
  readonly latencySeconds: number;
  readonly starts: number;
  readonly memoryKeys: number;
}

/** For the committed results. */
export const FULL: Effort = {
  name: 'full',
  main: { count: 5, seconds: 1.5 },
  side: { count: 3, seconds: 1 },
  warmSeconds: 2.5,
  without: [],
  withoutPeers: [],
  keys: [1, 1000, 100_000],
  latencySeconds: 5,
  starts: 5,
  memoryKeys: 1_000_000,
};

/** For a run of less than three minutes, with rough numbers and without scenarios that no target needs. */
export const QUICK: Effort = {
  name: 'quick',
  main: { count: 3, seconds: 0.3 },
  side: { count: 3, seconds: 0.3 },
  warmSeconds: 1.5,
  without: ['hit-2k', 'hit-200k', 'hit-1c', 'hit-256c', 'refused', 'miss-gzip'],
  withoutPeers: [
    'portico-responses-off',
    'fastify-http-proxy',
    'haproxy',
    'varnish',
    'nginx-cache-1-key',
    'nginx-cache-10-000-keys',
    'miss-distinct-2k/http-proxy-middleware',
    'miss-distinct-200k/http-proxy-middleware',
  ],
  keys: [1, 10_000],
  latencySeconds: 1,
  starts: 2,
  memoryKeys: 100_000,
};

/** Rounds of `--against`, each with fresh processes. */
export const COMPARED: Rounds = { count: 6, seconds: 2 };

/** The same with `--quick`. */
export const QUICK_COMPARED: Rounds = { count: 4, seconds: 0.5 };
