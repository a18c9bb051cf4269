import type { PageSize } from '../pages.ts';
import type { Peer } from '../peers/peer.ts';
import type { UpstreamVariant } from '../upstream.ts';

/** The number and duration of the rounds of each server in a scenario. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
}

/** The requests of an entry, and the expected responses. */
export interface BenchRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** Whether the response is the page of the scenario. Refusals and 304 are not. */
  readonly page: boolean;
  /** Response headers that must be present, by name in lower case, with a pattern for the value. */
  readonly proof?: Readonly<Record<string, RegExp | 'absent'>>;
  /** The line of Portico's metrics that must grow by at least the number of requests. */
  readonly counted?: RegExp;
  /** Whether every response has undocumented fields, so that Portico counts violations of that category. */
  readonly undocumented?: boolean;
  /** Send the entity tag of a first response back, so that the response is a 304. */
  readonly revalidate?: boolean;
  /**
   * The number of distinct keys to request in turn, all of which are requested before the rounds; or `fresh` to request
   * every key only once.
   */
  readonly keys?: number | 'fresh';
}

/** A smaller warm-up for a slow server. */
export interface SlowPeer {
  readonly requests: number;
  /** The reason, for the results. */
  readonly reason: string;
}

/** One server of a scenario with its request. */
export interface Entry {
  readonly peer: Peer;
  readonly request: BenchRequest;
  readonly slow?: SlowPeer;
  /** The approximate requests per second of this server, if they differ from those of the scenario. */
  readonly usualPerSecond?: number;
}

/** Servers that are compared with one another, measured one after the other. */
export interface Scenario {
  /** Names the scenario in results, targets and `--only`. */
  readonly id: string;
  readonly title: string;
  readonly size: PageSize;
  readonly upstream: UpstreamVariant['kind'];
  readonly connections: number;
  readonly rounds: Rounds;
  readonly entries: readonly Entry[];
  /** The approximate requests per second of its servers, from which the duration of a run is estimated. */
  readonly usualPerSecond: number;
}
