import type { WarmUpRule } from '../warm-up.ts';
import type { Rounds } from './scenario.ts';

/** The amount of work in a run. */
export interface Effort {
  readonly name: 'full' | 'quick';
  /** The rounds for scenarios with performance targets. */
  readonly main: Rounds;
  /** The rounds for the other scenarios. */
  readonly side: Rounds;
  /** How each server, whether Portico or a peer, is warmed up before its rounds. */
  readonly warmUp: WarmUpRule;
  /** Parts that run only when selected by name. */
  readonly without: readonly string[];
  /** The omitted servers. Each is identified by a peer id, or by a scenario id and a peer id separated by a slash. */
  readonly withoutPeers: readonly string[];
  /** The numbers of distinct keys in the `keys` scenario, in ascending order. */
  readonly keys: readonly number[];
  readonly latency: Rounds;
  /** The number of requests in the measurement of a warm-up. */
  readonly warmUpCurve: number;
  readonly starts: number;
  readonly memoryKeys: number;
  /** The maximum duration of a run of all parts, including the installation. A run that takes longer fails. */
  readonly maxMinutes: number;
}

/**
 * The amount of work in the runs whose results are committed. If a scenario is selected by name, all of its servers are
 * measured, including those omitted here.
 */
export const FULL: Effort = {
  name: 'full',
  main: { count: 5, seconds: 0.8 },
  side: { count: 5, seconds: 0.6 },
  warmUp: { requests: 20_000, maxSeconds: 15 },
  // These parts and servers are omitted because either no target depends on them or another scenario measures them.
  without: ['refused', 'miss-gzip', 'miss-same', 'hit-2k', 'hit-200k', 'hit-1c', 'hit-256c'],
  withoutPeers: [
    'hit/nginx-cache',
    'hit-busy/nginx-cache-tuned',
    'not-modified/nginx-cache-tuned',
    'miss-stored/nginx-cache',
    'miss-distinct/fastify-http-proxy',
    'miss-distinct/nginx-pass',
    'hit-gzip/nginx-gzip',
    'miss-distinct/portico-responses-off',
    'miss-distinct/haproxy',
  ],
  keys: [1, 100_000],
  latency: { count: 5, seconds: 2 },
  warmUpCurve: 400_000,
  starts: 5,
  memoryKeys: 300_000,
  maxMinutes: 12,
};

/**
 * The effort for a run that takes less than four minutes. The numbers are rough because warm-ups are short. Scenarios
 * that few targets need are omitted.
 */
export const QUICK: Effort = {
  name: 'quick',
  main: { count: 5, seconds: 0.25 },
  side: { count: 5, seconds: 0.25 },
  warmUp: { requests: 10_000, maxSeconds: 1.5 },
  without: [
    'hit-busy',
    'warm-up',
    'hit-2k',
    'hit-200k',
    'hit-1c',
    'hit-256c',
    'refused',
    'miss-gzip',
    'miss-same',
    'miss-distinct-2k',
    'miss-distinct-200k',
    'keys',
    'operations',
    'memory',
  ],
  withoutPeers: [
    'portico-responses-off',
    'fastify-http-proxy',
    'haproxy',
    'varnish',
    'hit/nginx-cache',
    'hit-gzip/nginx-gzip',
    'not-modified/nginx-cache-tuned',
    'miss-distinct/nginx-pass',
  ],
  keys: [1, 10_000],
  latency: { count: 3, seconds: 1 },
  warmUpCurve: 200_000,
  starts: 3,
  memoryKeys: 100_000,
  maxMinutes: 4,
};

/** The rounds for `--against`. Each round starts new servers, which are warmed up like all others. */
export const COMPARED: Rounds = { count: 5, seconds: 1 };

/** The rounds of a run with both `--against` and `--quick`. */
export const QUICK_COMPARED: Rounds = { count: 5, seconds: 0.5 };
