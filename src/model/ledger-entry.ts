import type { Violation } from './violation.ts';

/** One request in which a violation was found. It never contains a value from the message. */
export interface LedgerSample {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly seenAt: number;
  /**
   * A description of the value that does not reveal it, such as `text of 12 characters`. Undefined if there is none.
   */
  readonly found: string | undefined;
}

/**
 * One distinct violation: the properties that all its occurrences share, how many there are, when the first and the
 * last one occurred, and how many distinct callers there were.
 */
export interface LedgerEntry extends Pick<
  Violation,
  'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath' | 'candidate'
> {
  /** The violation's id: 16 hexadecimal digits that stay the same across restarts. */
  readonly fingerprint: string;
  /** The operation's id. Undefined for undocumented paths. */
  readonly operation: string | undefined;
  /** The status that the upstream sent. Undefined for violations in requests, or if there was no response. */
  readonly status: number | undefined;
  /** The place of the violation, with `*` in place of indices and ids. */
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | undefined;
  /** The number of occurrences in the requested period. */
  readonly count: number;
  /** Epoch milliseconds. It does not depend on the requested period. */
  readonly firstSeenAt: number;
  /** Epoch milliseconds. */
  readonly lastSeenAt: number;
  /** The estimated number of distinct callers. */
  readonly callers: number;
  /** The number of occurrences in the requested period, per release label. */
  readonly releases: Readonly<Record<string, number>>;
  /** Up to five requests in which the violation was found. The latest one is last. */
  readonly samples: readonly LedgerSample[];
  /** Undefined if the query did not ask for it. */
  readonly history?: EntryHistory;
}

/** The number of hours that the history of an entry covers. */
export const HISTORY_HOURS = 24;

/** How often a violation occurred recently, and in which release it first occurred. */
export interface EntryHistory {
  /** The number of occurrences in each of the last `HISTORY_HOURS` hours. The current hour is last. */
  readonly hours: readonly number[];
  /** The release in which the earliest occurrence that is still stored was found. */
  readonly firstRelease: string | undefined;
}

/**
 * Returns true if an entry shows that the upstream failed, because there was no response or the response had a 5xx
 * status. Such an entry cannot be accepted, because that would hide the next outage, so the baseline has no effect on
 * it.
 */
export function isOutage({ check, status = 0 }: Pick<LedgerEntry, 'check' | 'status'>): boolean {
  return check === 'upstream' || status >= 500;
}

/** A violation that has been accepted, with a reason, an owner and an optional expiry date. */
export interface AcceptedViolation {
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which the violation is accepted, as `YYYY-MM-DD`. Undefined if it is accepted indefinitely. */
  readonly expires: string | undefined;
  /** A description of the violation for readers of the file, written when the violation was accepted. */
  readonly summary: string | undefined;
}

/** All accepted violations. */
export interface Baseline {
  readonly accepted: readonly AcceptedViolation[];
}
