import type { CheckName } from '../model/checks.ts';
import type { LedgerEntry, LedgerSample, CheckCounts } from '../model/ledger-entry.ts';

/** The properties that all occurrences of a violation share. */
export type EntryFacts = Omit<
  LedgerEntry,
  'count' | 'firstSeenAt' | 'lastSeenAt' | 'callers' | 'releases' | 'samples' | 'history'
>;

/** The occurrences of a violation since the last batch. */
export interface EntryDelta {
  readonly facts: EntryFacts;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** The number of occurrences in each hour. Hours are numbered from the epoch. */
  readonly hours: readonly (readonly [hour: number, count: number])[];
  /** The callers' positions in the bitmap of distinct callers. */
  readonly callers: readonly number[];
  readonly samples: readonly LedgerSample[];
}

/** The requests to one operation in one hour since the last batch. */
export interface TrafficDelta {
  readonly operation: string | undefined;
  /** The hour, numbered from the epoch. */
  readonly hour: number;
  readonly requests: number;
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** The data recorded since the last batch, as plain values that can be sent to another thread. */
export interface LedgerBatch {
  /** The number of the batch. Every batch of a process has a higher number than the ones before it. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
  readonly release: string;
  /** The entries, ordered by their last occurrence with the most recent one last. */
  readonly entries: readonly EntryDelta[];
  readonly traffic: readonly TrafficDelta[];
  /** The number of violations and traffic rows that were lost before they became part of a batch. */
  readonly dropped: number;
}

/** The maximum number of samples in an entry. */
export const MAX_SAMPLES = 5;

/** Returns the number of entries and traffic rows in a batch, all of which are lost if the batch cannot be written. */
export function countRows({ entries, traffic }: LedgerBatch): number {
  return entries.length + traffic.length;
}
