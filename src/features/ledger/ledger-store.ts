import { DAY_MS } from '../../lib/clock.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../engine/model/ledger-entry.ts';
import type { LedgerBatch } from './ledger-batch.ts';

/** The state of a store after a batch has been added. */
export interface StoreState {
  /** The number of distinct violations in the store. */
  readonly entries: number;
  /** The number of violations and traffic rows that were removed because the store was full. */
  readonly dropped: number;
  /** The key to use for hashing callers. Undefined if this process uses its own key. */
  readonly callerKey?: string;
}

/**
 * The error for a store that cannot be opened because it is missing, unusable or not a ledger of this version. The
 * message and the suggested fix are written for the person who configured the store.
 */
export class LedgerStoreError extends Error {
  override readonly name = 'LedgerStoreError';
  readonly problem: 'missing' | 'unusable' | 'not ours';
  readonly fix: string;

  constructor(problem: LedgerStoreError['problem'], message: string, fix: string) {
    super(message);
    this.problem = problem;
    this.fix = fix;
  }
}

/** The limits of a ledger store. */
export interface StoreLimits {
  /** The maximum number of distinct violations. Half of this number is for requests and half for responses. */
  readonly maxEntries: number;
  readonly retentionDays: number;
}

/** The storage behind a ledger. */
export interface LedgerStore {
  /**
   * Stores a batch completely or not at all. If the promise is rejected with `LedgerUnavailable`, the outcome is
   * unknown, so the caller must write the same batch again later: a store that has already added it recognizes its
   * number. If the promise is rejected with any other error, nothing was stored.
   */
  write(batch: LedgerBatch): Promise<StoreState>;
  /** Returns the stored data that matches the query. Rejects with `LedgerUnavailable` if the store cannot be reached. */
  read(query: LedgerQuery, takenAt: number): Promise<LedgerSnapshot>;
  close(): Promise<void>;
}

/** A store and the data that was read when it was opened. */
export interface OpenedStore {
  readonly store: LedgerStore;
  /** The fingerprints of all stored violations. */
  readonly fingerprints: readonly string[];
  /** The key for hashing callers. It is stored so that callers are still recognized after a restart. */
  readonly callerKey: string;
  /** False if the data is lost when the store is closed. */
  readonly isLasting: boolean;
}

/** Returns the start of the retention period, in epoch milliseconds. Entries last seen before that time are removed. */
export function retentionStart(now: number, retentionDays: number): number {
  return now - retentionDays * DAY_MS;
}
