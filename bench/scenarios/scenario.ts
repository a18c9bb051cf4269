import type { PageSize } from '../pages.ts';
import type { Peer } from '../peers/peer.ts';
import type { UpstreamVariant } from '../upstream.ts';

/** How often and for how many seconds each server of a scenario is measured. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
}

/** The requests of an entry, and what their responses must be. */
export interface BenchRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** Whether the response is the page of the scenario; refusals and 304 are not. */
  readonly page: boolean;
  /** Headers that prove how the response was made: name in lower case, and the pattern of the value. */
  readonly proof?: Readonly<Record<string, RegExp | 'absent'>>;
  /** The line of Portico's metrics that must grow by at least the number of requests. */
  readonly counted?: RegExp;
  /** Whether every response has undocumented fields, so that Portico must count violations of that category. */
  readonly undocumented?: boolean;
  /** Send the entity tag of a first response back, so that the response is 304. */
  readonly revalidate?: boolean;
  /** Request that many distinct keys in turn, or a new key in every request of the process's life. */
  readonly keys?: number | 'fresh';
}

/** A smaller warm-up than the rule asks for. */
export interface SlowPeer {
  readonly requests: number;
  /** The reason, which the results state. */
  readonly reason: string;
}

/** One server of a scenario with its request. */
export interface Entry {
  readonly peer: Peer;
  readonly request: BenchRequest;
  readonly slow?: SlowPeer;
  /** Requests per second of this server, where they differ much from those of the scenario. */
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
  /** Requests per second of a usual server, for the estimate of the time only. */
  readonly usualPerSecond: number;
}
