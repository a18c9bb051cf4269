import type { AcceptedViolation, LedgerEntry } from '../model/ledger-entry.ts';
import type { OperationTraffic } from '../model/ledger-snapshot.ts';
import type { ViolationCategory } from '../model/violation.ts';

/** How a violation stands against the baseline; `expired` counts as new and says that it was accepted once. */
export type Standing = 'new' | 'accepted' | 'expired';

/** Where the contract says what was broken. */
export interface ContractPlace {
  /** A file, relative to where it can be found: the checkout, or the folder of the contract. */
  readonly file: string;
  /** JSON pointer into it; empty for the whole. */
  readonly pointer: string;
  /** The line of that place, from 1; undefined where the file could not be read. */
  readonly line: number | undefined;
  /** The schema in `openapi.yaml` that holds the statement, as an overlay can select it; undefined where none does. */
  readonly schema: { readonly target: string; readonly value: Readonly<Record<string, unknown>> } | undefined;
}

/** One distinct violation, as a report shows it. */
export interface Finding {
  readonly entry: LedgerEntry;
  readonly standing: Standing;
  /** What the baseline says of it; undefined for new ones. */
  readonly accepted: AcceptedViolation | undefined;
  /** Requests of its operation in the period, under the releases that are reported. */
  readonly requests: number;
  /** Occurrences per request, 0 to 1; undefined where the traffic is not known. */
  readonly share: number | undefined;
  readonly place: ContractPlace;
}

/** All violations of one category, worst first. */
export interface FindingGroup {
  readonly category: ViolationCategory;
  readonly findings: readonly Finding[];
}

/** What was asked for. */
export interface ReportScope {
  /** Epoch milliseconds; undefined for everything that the ledger remembers. */
  readonly since: number | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
}

/** Everything that every format of a report is made from. */
export interface Report {
  /** Epoch milliseconds. */
  readonly takenAt: number;
  readonly scope: ReportScope;
  readonly releases: readonly string[];
  readonly traffic: readonly OperationTraffic[];
  /** Requests in the scope. */
  readonly requests: number;
  /** What the ledger lost. */
  readonly dropped: number;
  /** By category, in the order in which `Contract-Status` names the worst. */
  readonly groups: readonly FindingGroup[];
  /** What only a candidate contract says: a forecast, never a failure. */
  readonly candidates: readonly Finding[];
  /** Entries of the baseline that are past their last day. */
  readonly expired: readonly AcceptedViolation[];
  /** Entries of the baseline that nothing was seen of; empty when only a part of the ledger was asked for. */
  readonly noLongerSeen: readonly AcceptedViolation[];
}

/** Every violation of a report, in the order of its groups. */
export const findingsOf = ({ groups }: Pick<Report, 'groups'>): readonly Finding[] =>
  groups.flatMap(({ findings }) => findings);

/** True for what a baseline does not accept. */
export const isNew = ({ standing }: Pick<Finding, 'standing'>): boolean => standing !== 'accepted';
