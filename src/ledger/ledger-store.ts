import { DAY_MS } from '../lib/clock.ts';
import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckCounts, LedgerQuery, LedgerSnapshot, OperationTraffic } from '../model/ledger-snapshot.ts';
import type { LedgerBatch } from './ledger-batch.ts';

/** The state of a store after a batch. */
export interface StoreState {
  /** Number of distinct violations in the store. */
  readonly entries: number;
  /** Number of violations and traffic rows that were removed because the store was full. */
  readonly dropped: number;
}

/** The limits of a store. */
export interface StoreLimits {
  /** Distinct violations; half of them for requests, half for responses. */
  readonly maxEntries: number;
  readonly retentionDays: number;
}

/** The storage of a ledger. */
export interface LedgerStore {
  /** Stores a batch completely or not at all; rejects if nothing was stored. */
  write(batch: LedgerBatch): Promise<StoreState>;
  /** Returns the stored data that matches the query. */
  read(query: LedgerQuery, takenAt: number): Promise<LedgerSnapshot>;
  close(): Promise<void>;
}

/** A store, and the data that was read when it was opened. */
export interface OpenedStore {
  readonly store: LedgerStore;
  /** The fingerprints of all stored violations. */
  readonly fingerprints: readonly string[];
  /** The key for hashing callers. It belongs to the store, so that counts continue after a restart. */
  readonly callerKey: string;
}

/** Returns the snapshot of a ledger in which nothing has been recorded. */
export function emptySnapshot({ since }: Pick<LedgerQuery, 'since'>, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

/** Returns the start of the retention period, in epoch milliseconds. Entries last seen before it are removed. */
export function retentionStart(now: number, retentionDays: number): number {
  return now - retentionDays * DAY_MS;
}

/** The name in queries for all requests outside the contract. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** Converts the operation of a query to the operation of an entry. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

/** Returns the counts of each check with at least one outcome. */
export function checksOf(count: (name: CheckName, outcome: keyof CheckCounts) => number): OperationTraffic['checks'] {
  const all = CHECK_NAMES.map((name) => {
    const counts: CheckCounts = {
      passed: count(name, 'passed'),
      reported: count(name, 'reported'),
      refused: count(name, 'refused'),
    };
    return [name, counts] as const;
  });
  return Object.fromEntries(all.filter(([, { passed, reported, refused }]) => passed + reported + refused > 0));
}
