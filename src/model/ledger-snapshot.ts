import type { CheckName } from './checks.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** How often a check said what. */
export interface CheckCounts {
  readonly passed: number;
  /** Would have been refused, had the check been enforced. */
  readonly reported: number;
  readonly refused: number;
}

/** The traffic of one operation under one release label. */
export interface OperationTraffic {
  /** The operation's id; undefined for everything outside the contract. */
  readonly operation: string | undefined;
  readonly release: string;
  readonly requests: number;
  /** Counts of the checks that said anything. */
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** Which part of the ledger is wanted; everything that it remembers when empty. */
export interface LedgerQuery {
  /** Epoch milliseconds; what happened in the hour of this instant counts too. */
  readonly since?: number;
  readonly release?: string;
  /** An operation's id; `undocumented` for everything outside the contract. */
  readonly operation?: string;
}

/** What reports, the ladder and the console read: violations and the traffic they were seen in. */
export interface LedgerSnapshot {
  /** Epoch milliseconds. */
  readonly takenAt: number;
  /** The start of the period that counts cover; undefined for all that the ledger remembers. */
  readonly since: number | undefined;
  /** Every release label in the period, the latest last. */
  readonly releases: readonly string[];
  /** Most recently seen first. */
  readonly entries: readonly LedgerEntry[];
  readonly traffic: readonly OperationTraffic[];
  /** Distinct violations and pieces of writing that were lost because the ledger was full or its disk refused. */
  readonly dropped: number;
}

/** Gives snapshots: a running gateway's ledger, or a ledger's file. */
export interface LedgerReader {
  snapshot(query?: LedgerQuery): Promise<LedgerSnapshot>;
}
