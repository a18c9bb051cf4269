import type { PageSize } from '../pages.ts';
import type { Peer } from '../peers/peer.ts';
import type { UpstreamVariant } from '../upstream.ts';

/** How often and how long each server of a scenario is measured. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
}

/** What every request of an entry looks like, and what its answers must be. */
export interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** Whether the answer is the page of the scenario; refusals and 304 are not. */
  readonly page: boolean;
  /** Fields that prove which way the answer came: name in lower case, and what the value must hold. */
  readonly proof?: Readonly<Record<string, RegExp | 'absent'>>;
  /** The line of Portico's metrics that must have grown by at least as much as there were requests. */
  readonly counted?: RegExp;
  /** Send the entity tag of a first answer back, so that 304 is the answer. */
  readonly revalidate?: boolean;
  /** Ask for that many distinct keys in turn, all of them met once before the rounds. */
  readonly keys?: number;
}

/** One server of a scenario with its request. */
export interface Entry {
  readonly peer: Peer;
  readonly asked: Asked;
}

/** Servers that are compared with one another in alternating rounds. */
export interface Scenario {
  /** Names the scenario in results, targets and `--only`. */
  readonly id: string;
  readonly title: string;
  readonly size: PageSize;
  readonly upstream: UpstreamVariant['kind'];
  readonly connections: number;
  readonly rounds: Rounds;
  readonly entries: readonly Entry[];
}
