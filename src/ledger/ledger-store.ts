import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckCounts, LedgerQuery, LedgerSnapshot, OperationTraffic } from '../model/ledger-snapshot.ts';
import type { LedgerBatch } from './ledger-batch.ts';

/** How a store stands after a batch. */
export interface StoreState {
  /** Distinct violations that it holds. */
  readonly entries: number;
  /** Distinct violations and pieces of the batch that had to go because the store was full. */
  readonly dropped: number;
}

/** How much a store may hold. */
export interface StoreLimits {
  /** Distinct violations; half of them for requests, half for responses. */
  readonly maxEntries: number;
  readonly retentionDays: number;
}

/** Where a ledger is kept; all writing goes through this. */
export interface LedgerStore {
  /** Adds a batch to what is kept, all of it or nothing; rejects when nothing of it was kept. */
  write(batch: LedgerBatch): Promise<StoreState>;
  /** What is kept of the part that is asked for. */
  read(query: LedgerQuery, takenAt: number): Promise<LedgerSnapshot>;
  close(): Promise<void>;
}

/** A store with what is known of it when it was opened. */
export interface OpenedStore {
  readonly store: LedgerStore;
  /** Of everything that it held. */
  readonly fingerprints: readonly string[];
  /** Under which callers are hashed; as old as the store, so that counts go on after a restart. */
  readonly callerKey: string;
}

const DAY_MS = 86_400_000;

/** The instant before which what was not seen again is forgotten, in epoch milliseconds. */
export function forgottenBefore(now: number, retentionDays: number): number {
  return now - retentionDays * DAY_MS;
}

/** What queries call everything outside the contract. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** The operation that a query names, as entries have it. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

/** The counts of the checks that said anything. */
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
