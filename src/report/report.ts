import type { AcceptedViolation, LedgerEntry } from '../model/ledger-entry.ts';
import type { OperationTraffic } from '../model/ledger-snapshot.ts';
import type { ViolationCategory } from '../model/violation.ts';

/** The state of a violation in the baseline; `expired` counts as new, but was accepted until its last day. */
type BaselineState = 'new' | 'accepted' | 'expired';

/** The place in the contract of the violated statement. */
export interface ContractPlace {
  /** The path of the file, relative to the checkout or to the working folder. */
  readonly file: string;
  /** A JSON pointer; empty for the whole file. */
  readonly pointer: string;
  /** The line number, from 1; undefined if the file could not be read. */
  readonly line: number | undefined;
  /** The schema in `openapi.yaml` with the statement, and the overlay target that selects it; undefined if none has it. */
  readonly schema: { readonly target: string; readonly value: Readonly<Record<string, unknown>> } | undefined;
}

/** One distinct violation, as a report shows it. */
export interface Finding {
  readonly entry: LedgerEntry;
  readonly baselineState: BaselineState;
  /** Its entry in the baseline; undefined for new violations. */
  readonly accepted: AcceptedViolation | undefined;
  /** The number of requests to its operation in the scope of the report. */
  readonly requests: number;
  /** Occurrences per request, 0 to 1; undefined if the traffic is unknown. */
  readonly share: number | undefined;
  readonly place: ContractPlace;
}

/** All violations of one category, worst first. */
interface FindingGroup {
  readonly category: ViolationCategory;
  readonly findings: readonly Finding[];
}

/** The limits of a report. */
export interface ReportScope {
  /** Epoch milliseconds; undefined for all records in the ledger. */
  readonly since: number | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
}

/** The content of a report, independent of its format. */
export interface Report {
  /** Epoch milliseconds. */
  readonly takenAt: number;
  readonly scope: ReportScope;
  readonly releases: readonly string[];
  readonly traffic: readonly OperationTraffic[];
  /** The number of requests in the scope. */
  readonly requests: number;
  /** The number of records that the ledger dropped. */
  readonly dropped: number;
  /** The violations by category, worst first, in the order of `Contract-Status`. */
  readonly groups: readonly FindingGroup[];
  /** Differences under the shadow contract; they never fail a report. */
  readonly candidates: readonly Finding[];
  /** The expired entries of the baseline. */
  readonly expired: readonly AcceptedViolation[];
  /** The entries of the baseline without a violation in the ledger; empty if the scope is limited. */
  readonly noLongerSeen: readonly AcceptedViolation[];
}

/** Returns all violations of a report, in the order of its groups. */
export const findingsOf = ({ groups }: Pick<Report, 'groups'>): readonly Finding[] =>
  groups.flatMap(({ findings }) => findings);

/** Returns whether a violation is not accepted by the baseline. */
export const isNew = ({ baselineState }: Pick<Finding, 'baselineState'>): boolean => baselineState !== 'accepted';
