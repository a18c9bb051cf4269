import { DAY_MS } from '../lib/clock.ts';
import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type {
  CheckCounts,
  LedgerQuery,
  LedgerSnapshot,
  OperationTraffic,
  LedgerEntry,
  LedgerSample,
} from '../model/ledger-entry.ts';

/** The state of a store after it has added a batch. */
export interface StoreState {
  /** The number of distinct violations in the store. */
  readonly entries: number;
  /** The number of violations and traffic rows that were removed because the store was full. */
  readonly dropped: number;
  /** The key to use for hashing callers from now on. Undefined if this process uses its own key. */
  readonly callerKey?: string;
}

/**
 * The error for a store that currently cannot be reached. The same batch must be written again later. If the store
 * has already added the batch, it recognizes the batch by its number.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * The error for a store that cannot be opened because it is missing or unusable, or is not a ledger of this version.
 * The message and the suggested fix are for the person who configured the store.
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

/** The limits of a store. */
export interface StoreLimits {
  /** The maximum number of distinct violations. Half of it is for requests and half for responses. */
  readonly maxEntries: number;
  readonly retentionDays: number;
}

/** The storage behind a ledger. */
export interface LedgerStore {
  /**
   * Stores a batch completely or not at all. A rejected promise means that nothing was stored, except for
   * `StoreUnavailable`, which means that the outcome is unknown.
   */
  write(batch: LedgerBatch): Promise<StoreState>;
  /** Returns the stored data that matches the query. Rejects with `StoreUnavailable` if the store cannot be reached. */
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
}

/** Returns the snapshot of an empty ledger. */
export function emptySnapshot({ since }: Pick<LedgerQuery, 'since'>, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

/** Returns the start of the retention period, in epoch milliseconds. Entries last seen before that time are removed. */
export function retentionStart(now: number, retentionDays: number): number {
  return now - retentionDays * DAY_MS;
}

/** The name that queries use for all requests outside the contract. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** Converts the operation in a query to the form used in entries, in which undocumented paths have no operation. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

/** Returns the counts of every check that has at least one outcome. */
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

/** The properties that all occurrences of a violation share. */
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
  /** The number of occurrences in each hour. Hours are counted from the epoch. */
  readonly hours: readonly (readonly [hour: number, count: number])[];
  /** The callers' positions in the bitmap that counts distinct callers. */
  readonly callers: readonly number[];
  readonly samples: readonly LedgerSample[];
}

/** The requests to one operation in one hour since the last batch. */
export interface TrafficDelta {
  readonly operation: string | undefined;
  /** The hour, counted from the epoch. */
  readonly hour: number;
  readonly requests: number;
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** The data recorded since the last batch. It consists of plain values so that it can be sent to another thread. */
export interface LedgerBatch {
  /** The number of the batch. Each batch of a process has a higher number than the previous one. */
  readonly number: number;
  /** When the batch was created, in epoch milliseconds. */
  readonly writtenAt: number;
  readonly release: string;
  /** The entries in the order of their last occurrence, with the most recent one last. */
  readonly entries: readonly EntryDelta[];
  readonly traffic: readonly TrafficDelta[];
  /** The number of violations and traffic rows that were lost before they became part of a batch. */
  readonly dropped: number;
}

/** The maximum number of samples in an entry. */
export const MAX_SAMPLES = 5;

/** Returns the number of entries and traffic rows in a batch. They are lost if the batch cannot be written. */
export function countRows({ entries, traffic }: LedgerBatch): number {
  return entries.length + traffic.length;
}
