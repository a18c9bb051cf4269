import type { CheckName } from './checks.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** The outcomes of a check, counted. */
export interface CheckCounts {
  readonly passed: number;
  /** Requests that would have been refused if the check were enforced. */
  readonly reported: number;
  readonly refused: number;
}

/** The traffic of one operation under one release label. */
export interface OperationTraffic {
  /** The operation's id; undefined for undocumented paths. */
  readonly operation: string | undefined;
  readonly release: string;
  readonly requests: number;
  /** Counts of the checks that had an outcome. */
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** Selects a part of the ledger; an empty query selects everything. */
export interface LedgerQuery {
  /** Epoch milliseconds; includes the whole hour of this instant. */
  readonly since?: number;
  readonly release?: string;
  /** An operation's id, or `undocumented` for undocumented paths. */
  readonly operation?: string;
}

/** The data behind reports, the ladder and the console: violations and the traffic in which they were seen. */
export interface LedgerSnapshot {
  /** Epoch milliseconds. */
  readonly takenAt: number;
  /** The start of the counted period; undefined for the whole ledger. */
  readonly since: number | undefined;
  /** All release labels in the period, the latest last. */
  readonly releases: readonly string[];
  /** Most recently seen first. */
  readonly entries: readonly LedgerEntry[];
  readonly traffic: readonly OperationTraffic[];
  /**
   * The number of distinct violations and writes that were lost because the ledger was full or could not be written.
   */
  readonly dropped: number;
}

/** Reads snapshots from the ledger of a running gateway or from a ledger file. */
export interface LedgerReader {
  snapshot(query?: LedgerQuery): Promise<LedgerSnapshot>;
}
