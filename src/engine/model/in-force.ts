import type { Checks } from './checks.ts';

/** What is in force for an operation although the configuration says something else. */
export interface InForce {
  /** The levels of the operation's checks. */
  readonly checks: Checks;
  /** What differs from the configuration, for display. */
  readonly changes: readonly LevelChange[];
  /** Until when all requests are refused. Undefined if they are not. */
  readonly disabled?: Disabled | undefined;
  /** Makes stored responses be served without contacting the upstream. Undefined if they are not. */
  readonly forceStale?: ForceStale | undefined;
}

/** A difference from the configuration. */
export interface LevelChange {
  /** The name of what has decided it, as `portico explain` and `portico plan` show it. */
  readonly decidedBy: string;
  /** What differs, until when, and why. */
  readonly words: string;
  /** The command that shows more. */
  readonly toSee: string;
}

/** A time during which all requests of an operation are refused. */
export interface Disabled {
  /** The end, in epoch milliseconds. */
  readonly until: number;
  /** What ends it earlier, such as a command. */
  readonly toEnd: string;
}

/** A time during which stored responses are served without contacting the upstream. */
export interface ForceStale {
  /** How long a stored response may be served after becoming stale, in seconds. */
  readonly maxStaleSeconds: number;
  /** The end, in epoch milliseconds. */
  readonly until: number;
}
