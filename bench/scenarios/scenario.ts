import type { PageSize } from '../pages.ts';
import type { Peer } from '../peers/peer.ts';
import type { UpstreamVariant } from '../upstream.ts';

/** The number and duration of each server's rounds in a scenario. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
}

/** The requests that a server receives, and the expected responses. */
export interface BenchRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** True if the response is the scenario's page. False for error responses and 304 responses. */
  readonly page: boolean;
  /** The required response headers: lower-case names, with a pattern for each value. */
  readonly proof?: Readonly<Record<string, RegExp | 'absent'>>;
  /** The line in Portico's metrics whose value must grow by at least the number of requests. */
  readonly counted?: RegExp;
  /**
   * True if every response has undocumented fields, which Portico counts as violations in the `undocumented` category.
   */
  readonly undocumented?: boolean;
  /**
   * True if the first response's entity tag is sent with all later requests, so that all responses in the rounds have
   * status 304.
   */
  readonly revalidate?: boolean;
  /**
   * The number of distinct keys to request in turn. All of them are also requested before the rounds. `fresh` means
   * that every key is requested only once.
   */
  readonly keys?: number | 'fresh';
}

/** A shorter warm-up for a slow server. */
export interface SlowPeer {
  readonly requests: number;
  /** The reason for the shorter warm-up, as shown in the results. */
  readonly reason: string;
}

/** One of the servers in a scenario, and the request that it receives. */
export interface Entry {
  readonly peer: Peer;
  readonly request: BenchRequest;
  readonly slow?: SlowPeer;
  /**
   * The approximate number of requests per second that this server handles, if it differs from the scenario's number.
   */
  readonly usualPerSecond?: number;
}

/** A set of servers to compare with one another. The servers are measured one at a time. */
export interface Scenario {
  /** The name of the scenario in results, targets and `--only`. */
  readonly id: string;
  readonly title: string;
  readonly size: PageSize;
  readonly upstream: UpstreamVariant['kind'];
  readonly connections: number;
  readonly rounds: Rounds;
  /** True if another program competes for the server's core during the rounds. */
  readonly hasNeighbor?: boolean;
  readonly entries: readonly Entry[];
  /**
   * The approximate number of requests per second that each server handles. It is used to estimate the duration of a
   * run.
   */
  readonly usualPerSecond: number;
}
