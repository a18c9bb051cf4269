import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/** One distinct violation: what every occurrence has in common, how often and when it was seen. Holds no value of a message. */
export interface LedgerEntry extends Pick<
  Violation,
  'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath'
> {
  /** Stable over restarts: the same difference has the same fingerprint. */
  readonly fingerprint: string;
  /** The operation's id; undefined for undocumented paths. */
  readonly operation: string | undefined;
  /** `2xx`, `4xx`, … of the upstream's answer; undefined for violations of requests. */
  readonly statusClass: string | undefined;
  /** The place, with indices and ids replaced by `*`. */
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | undefined;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  /** Epoch milliseconds. */
  readonly lastSeenAt: number;
  /** Ids of a few of the requests it was seen in, the latest last. */
  readonly requestIds: readonly string[];
}

/** Keeps violations, deduplicated; one interface for every store. */
export interface Ledger {
  /** Takes in all violations of a finished request. */
  record(trace: Trace): void;
  /** All entries, most recently seen first. */
  entries(): readonly LedgerEntry[];
  /** Number of entries. */
  size(): number;
  /** How many distinct entries had to go for others. */
  dropped(): number;
  close(): void;
}
