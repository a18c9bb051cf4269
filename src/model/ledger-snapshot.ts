import type { CheckName } from './checks.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** The number of requests with each outcome of a check. */
export interface CheckCounts {
  readonly passed: number;
  /** The number of requests that would have been refused if the check had been enforced. */
  readonly reported: number;
  readonly refused: number;
}

/** The traffic of one operation under one release label. */
export interface OperationTraffic {
  /** The operation's id. Undefined for undocumented paths. */
  readonly operation: string | undefined;
  readonly release: string;
  readonly requests: number;
  /** The counts of each check that had an outcome. */
  readonly checks: Readonly<Partial<Record<CheckName, CheckCounts>>>;
}

/** Selects part of the ledger. An empty query selects everything. */
export interface LedgerQuery {
  /** The start of the period in epoch milliseconds. The hour in which it falls is included completely. */
  readonly since?: number;
  readonly release?: string;
  /** An operation's id, or `undocumented` for undocumented paths. */
  readonly operation?: string;
  /** True to include the history of each entry. The history covers all releases. */
  readonly history?: boolean;
}

/**
 * The data on which reports, the ladder and the console are based: violations, and the traffic in which they were
 * found.
 */
export interface LedgerSnapshot {
  /** Epoch milliseconds. */
  readonly takenAt: number;
  /** The start of the counted period. Undefined for the whole ledger. */
  readonly since: number | undefined;
  /** All release labels in the period. The latest one is last. */
  readonly releases: readonly string[];
  /** The violations. The one that was seen most recently is first. */
  readonly entries: readonly LedgerEntry[];
  readonly traffic: readonly OperationTraffic[];
  /**
   * The number of violations and writes that were lost, either because the ledger was full or because it could not be
   * written.
   */
  readonly dropped: number;
}

/** Reads snapshots from the ledger of a running gateway or from a ledger file. */
export interface LedgerReader {
  snapshot(query?: LedgerQuery): Promise<LedgerSnapshot>;
}
