/** An operation that a walk could not ask for, and why. */
export interface NotWalked {
  readonly operation: string;
  /** Path parameters that no id was found for; empty where the requests ran out first. */
  readonly missing: readonly string[];
}

/** How one operation was walked. */
export interface WalkedOperation {
  readonly operation: string;
  readonly requests: number;
  /** Answers by status; 0 stands for none. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** What a walk did. */
export interface WalkSummary {
  readonly requests: number;
  readonly walked: readonly WalkedOperation[];
  readonly notWalked: readonly NotWalked[];
  /** Why it ended: everything was asked, the bound was reached, a signal, or an upstream that no longer answers. */
  readonly ended: 'complete' | 'max-requests' | 'signal' | 'unreachable';
  /** What the last failure said; undefined unless it ended as `unreachable`. */
  readonly failure: string | undefined;
  /** Requests that were planned and not sent. */
  readonly left: number;
}
