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
  /** One of the gateways that share the ledger. */
  readonly replica?: string;
  /** True to include the history of each entry. The history covers all releases. */
  readonly history?: boolean;
}

/** One of the gateways that share a ledger, with its counts in the requested period. */
export interface ReplicaTraffic {
  /** The name of the instance. */
  readonly replica: string;
  /** The release label of its latest requests. */
  readonly release: string;
  /** The time of its latest requests, in epoch milliseconds. */
  readonly lastSeenAt: number;
  readonly requests: number;
  /** The number of requests with a violation, counted once for each violation. */
  readonly violations: number;
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
  /** The gateways that share the ledger. The one that was seen most recently is first. Undefined if it is not shared. */
  readonly replicas?: readonly ReplicaTraffic[];
  /** The time after which a shared ledger was found empty, in epoch milliseconds. Earlier counts are missing. */
  readonly lostAt?: number;
}

/** Reads snapshots from the ledger of a running gateway or from a ledger file. */
export interface LedgerReader {
  snapshot(query?: LedgerQuery): Promise<LedgerSnapshot>;
}
