import type { Rounds } from './scenario.ts';

/** How much of everything a run does. */
export interface Effort {
  readonly name: 'full' | 'quick';
  /** The rows that targets are computed from. */
  readonly main: Rounds;
  /** Rows that show how cost grows. */
  readonly side: Rounds;
  /** How long each server is warmed before its rounds, whatever it is written in: V8 needs that long, the others do not mind. */
  readonly warmSeconds: number;
  /** Scenarios that are left out unless they are asked for by name. */
  readonly without: readonly string[];
  /** Servers that are left out: the id of a peer, or of a scenario and a peer with a slash between them. */
  readonly withoutPeers: readonly string[];
  /** The numbers of distinct keys of the rows about keys, the smallest first. */
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

/** For a look in under three minutes: what no target is computed from is left out, and the numbers are rough. */
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
