import type { CheckName } from '../model/checks.ts';
import type { LedgerEntry, LedgerSample } from '../model/ledger-entry.ts';
import type { CheckCounts } from '../model/ledger-snapshot.ts';

/** The properties that all occurrences of a violation share. */
export type EntryFacts = Omit<LedgerEntry, 'count' | 'firstSeenAt' | 'lastSeenAt' | 'callers' | 'releases' | 'samples'>;

/** The occurrences of a violation since the last batch. */
export interface EntryDelta {
  readonly facts: EntryFacts;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** Occurrences by hour since the epoch. */
  readonly hours: readonly (readonly [hour: number, count: number])[];
  /** Positions of its callers in the bitmap that counts distinct callers. */
  readonly callers: readonly number[];
  readonly samples: readonly LedgerSample[];
}

/** The requests of one operation in one hour since the last batch. */
export interface TrafficDelta {
  readonly operation: string | undefined;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly requests: number;
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** Everything recorded since the last batch, as plain data that can be sent to another thread. */
export interface LedgerBatch {
  /** Epoch milliseconds. */
  readonly writtenAt: number;
  readonly release: string;
  /** In the order of their last occurrence, the most recent one last. */
  readonly entries: readonly EntryDelta[];
  readonly traffic: readonly TrafficDelta[];
  /** Number of violations and traffic rows that were lost before they could become part of a batch. */
  readonly dropped: number;
}

/** The maximum number of samples in an entry. */
export const MAX_SAMPLES = 5;

/** Returns the number of entries and traffic rows in a batch, to count the loss when writing it fails. */
export function countRows({ entries, traffic }: LedgerBatch): number {
  return entries.length + traffic.length;
}
