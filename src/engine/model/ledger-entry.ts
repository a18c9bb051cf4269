import { type JudgedName, JUDGED_NAMES } from './checks.ts';
import type { ReleaseStatistics } from './release-statistics.ts';
import type { Violation } from './violation.ts';

/** One request in which a violation was found. A sample never contains a value from the message. */
export interface LedgerSample {
  readonly requestId: string;
  /** When the request was received, in epoch milliseconds. */
  readonly seenAt: number;
  /**
   * A description of the value that does not reveal it, such as `text of 12 characters`. Undefined if there is no
   * value.
   */
  readonly found: string | undefined;
}

/**
 * One distinct violation: the properties shared by all its occurrences, the number of occurrences, the times of the
 * first and last occurrence, and the number of distinct callers.
 */
export interface LedgerEntry extends Pick<
  Violation,
  'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath' | 'candidate'
> {
  /** The violation's id: 16 hexadecimal digits that stay the same across restarts. */
  readonly fingerprint: string;
  /** The operation's id. Undefined for undocumented paths. */
  readonly operation: string | undefined;
  /** The status that the upstream sent. Undefined for a violation in a request, or if there was no response. */
  readonly status: number | undefined;
  /** The location of the violation, with `*` replacing indices and ids. */
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | undefined;
  /** The number of occurrences in the period selected by the query. */
  readonly count: number;
  /** The time of the first occurrence, in epoch milliseconds, regardless of the period selected by the query. */
  readonly firstSeenAt: number;
  /** The time of the last occurrence, in epoch milliseconds. */
  readonly lastSeenAt: number;
  /** The estimated number of distinct callers. */
  readonly callers: number;
  /** The number of occurrences for each release label in the period selected by the query. */
  readonly releases: Readonly<Record<string, number>>;
  /** Up to five requests in which the violation was found, with the most recent last. */
  readonly samples: readonly LedgerSample[];
  /** The recent history. Undefined if the query did not request it. */
  readonly history?: EntryHistory;
}

/** The properties of a violation that an entry has unchanged. */
type Rule = Pick<LedgerEntry, 'check' | 'direction' | 'category' | 'location' | 'keyword' | 'schemaPath' | 'candidate'>;

/** Returns the properties of a violation, or of a stored entry, that an entry has unchanged. */
export function ruleOf({
  check,
  direction,
  category,
  location,
  keyword,
  schemaPath,
  candidate,
}: Omit<Rule, 'candidate'> & { readonly candidate?: Rule['candidate'] | undefined }): Rule {
  return {
    check,
    direction,
    category,
    location,
    keyword,
    schemaPath,
    ...(candidate !== undefined && { candidate }),
  };
}

/** The number of hours in the history of an entry. */
export const HISTORY_HOURS = 24;

/** How often a violation has occurred recently, and in which release it first occurred. */
export interface EntryHistory {
  /** The number of occurrences in each of the last `HISTORY_HOURS` hours. The last number is for the current hour. */
  readonly hours: readonly number[];
  /** The release label of the earliest occurrence that is still stored. */
  readonly firstRelease: string | undefined;
}

/**
 * Returns whether an entry represents an upstream failure, that is, a missing response or a 5xx status. An entry for an
 * upstream failure cannot be accepted, because accepting it would hide the next outage. A baseline entry for it has no
 * effect.
 */
export function isOutage({ check, status = 0 }: Pick<LedgerEntry, 'check' | 'status'>): boolean {
  return check === 'upstream' || (check !== 'errors' && status >= 500);
}

/**
 * Returns whether an entry represents upstream errors that get another status when errors are normalized. `status` is
 * the upstream's status, and `keyword` the code of the error that replaces it.
 */
export function isStatusChange({ check }: Pick<LedgerEntry, 'check'>): boolean {
  return check === 'errors';
}

/** Returns whether an entry represents a violation of the contract, and not an upstream failure or a status change. */
export function isContractViolation(entry: Pick<LedgerEntry, 'check' | 'status'>): boolean {
  return !isOutage(entry) && !isStatusChange(entry);
}

/** A violation that has been accepted, with a reason, an owner and an optional expiry date. */
export interface AcceptedViolation {
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which the violation is accepted, as `YYYY-MM-DD`. Undefined if the acceptance does not expire. */
  readonly expires: string | undefined;
  /** A description for people who read the file, written when the violation was accepted. */
  readonly summary: string | undefined;
}

/** All accepted violations. */
export interface Baseline {
  readonly accepted: readonly AcceptedViolation[];
}

/** The number of requests for each outcome of a check. */
export interface CheckCounts {
  readonly passed: number;
  /** The number of requests that the check would have refused if it had been enforced. */
  readonly reported: number;
  readonly refused: number;
}

/** The traffic of a single operation under one release label. */
export interface OperationTraffic {
  /** The operation's id. Undefined for undocumented paths. */
  readonly operation: string | undefined;
  readonly release: string;
  readonly requests: number;
  /** The counts for each check that had any outcome. */
  readonly checks: Readonly<Partial<Record<JudgedName, CheckCounts>>>;
}

/** Selects a part of the ledger. An empty query selects everything. */
export interface LedgerQuery {
  /** The start of the period, in epoch milliseconds. The whole hour that contains this time is included. */
  readonly since?: number;
  readonly release?: string;
  /** An operation's id, or `undocumented` for undocumented paths. */
  readonly operation?: string;
  /** The name of one of the gateways that share the ledger. */
  readonly replica?: string;
  /** True if each entry includes its history. The history covers all releases. */
  readonly history?: boolean;
}

/** One of the gateways that share a ledger, and its counts in the requested period. */
export interface ReplicaTraffic {
  /** The name of the instance. */
  readonly replica: string;
  /** The release label of the gateway's most recent requests. */
  readonly release: string;
  /** The time of the gateway's most recent requests, in epoch milliseconds. */
  readonly lastSeenAt: number;
  readonly requests: number;
  /** The number of occurrences of violations. A request with several violations is counted once for each violation. */
  readonly violations: number;
}

/** The data behind reports, the ladder and the console: violations, and the traffic in which they were found. */
export interface LedgerSnapshot {
  /** The time of the snapshot, in epoch milliseconds. */
  readonly takenAt: number;
  /** The start of the counted period, in epoch milliseconds. Undefined if the snapshot covers the whole ledger. */
  readonly since: number | undefined;
  /** All release labels in the period, in the order in which they were last seen. */
  readonly releases: readonly string[];
  /** The violations, most recently seen first. */
  readonly entries: readonly LedgerEntry[];
  readonly traffic: readonly OperationTraffic[];
  /** The statistics of the last releases, of any period, for the comparison of releases. */
  readonly statistics: readonly ReleaseStatistics[];
  /** The number of violations and writes that were lost because the ledger was full or could not be written. */
  readonly dropped: number;
  /** The gateways that share the ledger, most recently seen first. Undefined if the ledger is not shared. */
  readonly replicas?: readonly ReplicaTraffic[];
  /** When a shared ledger was found to be empty, in epoch milliseconds. Earlier counts are missing. */
  readonly lostAt?: number;
}

/** Reads snapshots from the ledger of a running gateway or from a ledger file. */
export interface LedgerReader {
  /** Rejects with `LedgerUnavailable` if the records cannot currently be reached. */
  snapshot(query?: LedgerQuery): Promise<LedgerSnapshot>;
}

/** The error for records that are shared with other processes and cannot currently be reached. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
}

/** Returns the snapshot of an empty ledger. */
export function emptySnapshot({ since }: Pick<LedgerQuery, 'since'>, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], statistics: [], dropped: 0 };
}

/** The name that stands for all undocumented paths in queries. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** Converts the operation in a query to the form used in entries, where undocumented paths have no operation. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

/** Returns the counts for every check that has at least one outcome. */
export function checksOf(count: (name: JudgedName, outcome: keyof CheckCounts) => number): OperationTraffic['checks'] {
  const all = JUDGED_NAMES.map((name) => {
    const counts: CheckCounts = {
      passed: count(name, 'passed'),
      reported: count(name, 'reported'),
      refused: count(name, 'refused'),
    };
    return [name, counts] as const;
  });
  return Object.fromEntries(all.filter(([, { passed, reported, refused }]) => passed + reported + refused > 0));
}

/** The records of gateways, read without a gateway. */
export interface StoredRecords {
  /** The name of the place in reports and messages, such as the path of the file. It must not contain a secret. */
  readonly name: string;
  /** False if the records are only in the memory of the gateway, so there is nothing to read. */
  readonly isLasting: boolean;
  /** Returns undefined if there is nothing to read. Throws `StartFault` if the records cannot be read. */
  read(query: LedgerQuery): Promise<LedgerSnapshot | undefined>;
}
