import type { JudgedName } from '../../engine/model/checks.ts';
import type { CheckCounts, LedgerEntry, LedgerSample } from '../../engine/model/ledger-entry.ts';

/** The properties shared by all occurrences of a violation. */
export type EntryFacts = Omit<
  LedgerEntry,
  'count' | 'firstSeenAt' | 'lastSeenAt' | 'callers' | 'releases' | 'samples' | 'history'
>;

/** The occurrences of a violation since the last batch. */
export interface EntryDelta {
  readonly facts: EntryFacts;
  /** The time of the first occurrence, in epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** The number of occurrences in each hour. An hour is a number of hours since the epoch. */
  readonly hours: readonly (readonly [hour: number, count: number])[];
  /** The callers' positions in the bitmap that counts distinct callers. */
  readonly callers: readonly number[];
  readonly samples: readonly LedgerSample[];
}

/** The requests for one operation in one hour, counted since the last batch. */
export interface TrafficDelta {
  readonly operation: string | undefined;
  /** The number of hours since the epoch. */
  readonly hour: number;
  readonly requests: number;
  readonly checks: Readonly<Partial<Record<JudgedName, CheckCounts>>>;
}

/** What the responses of one operation had in common since the last batch, as in `ReleaseStatistics`. */
export interface StatisticsDelta {
  readonly operation: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** The data recorded since the last batch. It consists of plain values, so that it can be sent to another thread. */
export interface LedgerBatch {
  /** The number of the batch. Within a process, each batch has a higher number than the previous one. */
  readonly number: number;
  /** When the batch was created, in epoch milliseconds. */
  readonly writtenAt: number;
  readonly release: string;
  /** The entries, ordered by last occurrence. The most recent one is last. */
  readonly entries: readonly EntryDelta[];
  readonly traffic: readonly TrafficDelta[];
  readonly statistics: readonly StatisticsDelta[];
  /** The number of violations and traffic rows that were lost before they became part of a batch. */
  readonly dropped: number;
}

/** The maximum number of samples in an entry. */
export const MAX_SAMPLES = 5;

/** Returns the number of entries and traffic rows that would be lost if the batch could not be written. */
export function countRows({ entries, traffic }: LedgerBatch): number {
  return entries.length + traffic.length;
}
