import type { Violation } from './violation.ts';

/** One request in which a violation was seen; never contains a value from the message. */
export interface LedgerSample {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly seenAt: number;
  /**
   * A description of the observed value that does not show it (`text of 12 characters`); undefined if there is none.
   */
  readonly found: string | undefined;
}

/** One distinct violation: what all occurrences have in common, their count, their times and the number of callers. */
export interface LedgerEntry extends Pick<
  Violation,
  'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath' | 'candidate'
> {
  /** The id of the violation, stable across restarts: 16 hexadecimal digits. */
  readonly fingerprint: string;
  /** The operation's id; undefined for undocumented paths. */
  readonly operation: string | undefined;
  /** The upstream's own status; undefined for violations of requests and if the upstream did not respond. */
  readonly status: number | undefined;
  /** The place of the violation, with indices and ids replaced by `*`. */
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | undefined;
  /** Occurrences in the requested period. */
  readonly count: number;
  /** Epoch milliseconds; independent of the requested period. */
  readonly firstSeenAt: number;
  /** Epoch milliseconds. */
  readonly lastSeenAt: number;
  /** The estimated number of distinct callers. */
  readonly callers: number;
  /** Occurrences by release label in the requested period. */
  readonly releases: Readonly<Record<string, number>>;
  /** At most five of the requests in which it was seen, the latest last. */
  readonly samples: readonly LedgerSample[];
}

/** A violation that a team accepts, with a reason, an owner and an optional end. */
export interface AcceptedViolation {
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it is accepted, `YYYY-MM-DD`; undefined if it does not expire. */
  readonly expires: string | undefined;
  /** A description of the violation at the time of acceptance, for readers of the file. */
  readonly summary: string | undefined;
}

/** All accepted violations. */
export interface Baseline {
  readonly accepted: readonly AcceptedViolation[];
}
