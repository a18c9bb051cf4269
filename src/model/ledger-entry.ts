import type { Violation } from './violation.ts';

/** One request that an entry was seen in; nothing in it is a value of a message. */
export interface LedgerSample {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly seenAt: number;
  /** What stood at the place, described without showing it (`text of 12 characters`); undefined where there is nothing to tell. */
  readonly found: string | undefined;
}

/** One distinct violation: what every occurrence has in common, how often, when and for how many callers it was seen. */
export interface LedgerEntry extends Pick<
  Violation,
  'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath' | 'candidate'
> {
  /** Stable over restarts: the same difference has the same fingerprint, 16 hexadecimal digits. */
  readonly fingerprint: string;
  /** The operation's id; undefined for undocumented paths. */
  readonly operation: string | undefined;
  /** The upstream's own status; undefined for violations of requests and where the upstream gave no answer. */
  readonly status: number | undefined;
  /** The place, with indices and ids replaced by `*`. */
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | undefined;
  /** Occurrences in the period that was asked for. */
  readonly count: number;
  /** Epoch milliseconds, of all time that the ledger remembers. */
  readonly firstSeenAt: number;
  /** Epoch milliseconds. */
  readonly lastSeenAt: number;
  /** Estimated number of distinct callers that it was seen with. */
  readonly callers: number;
  /** Occurrences by release label in the period that was asked for. */
  readonly releases: Readonly<Record<string, number>>;
  /** At most five of the requests it was seen in, the latest last. */
  readonly samples: readonly LedgerSample[];
}

/** A violation that a team knows of and accepts, with who answers for it and until when. */
export interface AcceptedViolation {
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it is accepted, `YYYY-MM-DD`; undefined for no end. */
  readonly expires: string | undefined;
  /** What it was when it was accepted, for readers of the file. */
  readonly summary: string | undefined;
}

/** Everything that is accepted. */
export interface Baseline {
  readonly accepted: readonly AcceptedViolation[];
}
