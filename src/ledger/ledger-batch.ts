import type { CheckName } from '../model/checks.ts';
import type { LedgerEntry, LedgerSample } from '../model/ledger-entry.ts';
import type { CheckCounts } from '../model/ledger-snapshot.ts';

/** What every occurrence of a violation has in common. */
export type EntryFacts = Omit<LedgerEntry, 'count' | 'firstSeenAt' | 'lastSeenAt' | 'callers' | 'releases' | 'samples'>;

/** How often a violation was seen since the last batch. */
export interface EntryDelta {
  readonly facts: EntryFacts;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  /** Occurrences by hour since the epoch. */
  readonly hours: readonly (readonly [hour: number, count: number])[];
  /** Places of its callers in the bitmap that distinct callers are counted in. */
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

/** Everything that has happened since the last batch, as plain data that can be sent to another thread. */
export interface LedgerBatch {
  /** Epoch milliseconds. */
  readonly writtenAt: number;
  readonly release: string;
  /** The most recently seen last. */
  readonly entries: readonly EntryDelta[];
  readonly traffic: readonly TrafficDelta[];
  /** What was lost before it could be part of a batch. */
  readonly dropped: number;
}

/** Most samples that an entry keeps. */
export const MAX_SAMPLES = 5;

/** How many separate facts a batch holds, for counting what is lost with it. */
export function piecesOf({ entries, traffic }: LedgerBatch): number {
  return entries.length + traffic.length;
}
