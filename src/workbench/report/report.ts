import { endOfDay } from '../../lib/clock.ts';
import {
  type AcceptedViolation,
  type Baseline,
  isContractViolation,
  isOutage,
  isStatusChange,
  type LedgerEntry,
  type LedgerSnapshot,
  type OperationTraffic,
  type ReplicaTraffic,
} from '../../engine/model/ledger-entry.ts';
import { isAdvisory, severityOf, VIOLATION_CATEGORIES, type ViolationCategory } from '../../engine/model/violation.ts';
import type { ReportSection } from '../../engine/model/report-section.ts';
import type { ReleaseStatistics } from '../../engine/model/release-statistics.ts';
import type { ContractPlace } from '../../engine/contract/contract-places.ts';
import { countCauses } from '../../engine/model/causes.ts';
import { withDriftFrom, withLatestDrift, withoutDrift } from '../../engine/model/release-drift.ts';
import { countWords } from '../../lib/count-words.ts';
import { timeWords } from './report-words.ts';

/**
 * The state of a violation in the baseline. From the day after the acceptance ends, the state is `expired` and the
 * violation is treated as new.
 */
type BaselineState = 'new' | 'accepted' | 'expired';

/** One distinct violation, as shown in a report. */
export interface Finding {
  readonly entry: LedgerEntry;
  readonly baselineState: BaselineState;
  /** The violation's entry in the baseline. Undefined for new violations. */
  readonly accepted: AcceptedViolation | undefined;
  /** The number of requests to the violation's operation within the report's scope. */
  readonly requests: number;
  /** Occurrences per request, from 0 to 1. Undefined if the traffic is unknown. */
  readonly share: number | undefined;
  readonly place: ContractPlace;
}

/** All violations in one category, worst first. */
interface FindingGroup {
  readonly category: ViolationCategory;
  readonly findings: readonly Finding[];
}

/** The part of a ledger covered by a report. */
export interface ReportScope {
  /** The start of the scope, in epoch milliseconds. Undefined if the scope includes all records in the ledger. */
  readonly since: number | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
  /** One of the gateways that share the ledger. Undefined if the scope includes all of them. */
  readonly replica?: string | undefined;
}

/** The content of a report, independent of its format. */
export interface Report {
  /** The time of the snapshot, in epoch milliseconds. */
  readonly takenAt: number;
  readonly scope: ReportScope;
  readonly releases: readonly string[];
  readonly traffic: readonly OperationTraffic[];
  /** The statistics of the last releases, on which the comparison of releases is based. */
  readonly statistics: readonly ReleaseStatistics[];
  /** The number of requests in the scope. */
  readonly requests: number;
  /** The number of records that were dropped from the ledger. */
  readonly dropped: number;
  /** The gateways that share the ledger. Undefined if it is not shared. */
  readonly replicas?: readonly ReplicaTraffic[];
  /** When a shared ledger was found to be empty, in epoch milliseconds. */
  readonly lostAt?: number;
  /**
   * The violations by category, in the same order as in `Contract-Status`. Within each category, the worst comes first.
   */
  readonly groups: readonly FindingGroup[];
  /** The differences found by comparison with the shadow contract. They never make a report fail. */
  readonly shadowDifferences: readonly Finding[];
  /**
   * The upstream errors whose status changes, or would change, because errors are normalized. They are not violations,
   * so they never make a report fail.
   */
  readonly statusChanges: readonly Finding[];
  /**
   * The failed exchanges, the responses with a 5xx status, and the requests that Portico refused because of failures.
   * They are not violations, and make a report fail only with the rule `outages`.
   */
  readonly outages: readonly Finding[];
  /** The expired baseline entries. */
  readonly expired: readonly AcceptedViolation[];
  /** The baseline entries whose violations are not in the ledger. Empty if the scope is limited. */
  readonly noLongerSeen: readonly AcceptedViolation[];
  /** What features say about themselves. */
  readonly sections: readonly ReportSection[];
  /** True if only the sections are shown. */
  readonly isSectionsOnly?: boolean;
}

/** The options for rendering a report. */
export interface RenderOptions {
  /** Portico's own version. */
  readonly version: string;
  /** The width of the terminal in columns. */
  readonly columns: number;
  /** True if the output may contain colors. */
  readonly colors: boolean;
  /** The ledger that `portico report` must be told to find the violations. Null if they are in none. */
  readonly ledger?: string | null;
}

/** Returns the command that shows a violation in detail, or undefined if there is no record of it. */
export const detailsCommand = (fingerprint: string, { ledger }: Pick<RenderOptions, 'ledger'>): string | undefined =>
  ledger === null ? undefined : `portico report ${fingerprint}${ledger === undefined ? '' : ` --ledger ${ledger}`}`;

/** Renders a report in one output format. */
export type RenderReport = (report: Report, options: RenderOptions) => string;

/** Returns all violations in a report, worst first. */
export const findingsOf = ({ groups }: Pick<Report, 'groups'>): readonly Finding[] =>
  groups.flatMap(({ findings }) => findings).toSorted(worstFirst);

/** Returns true unless the baseline accepts the violation. */
export const isNew = ({ baselineState }: Pick<Finding, 'baselineState'>): boolean => baselineState !== 'accepted';

/** Returns whether a violation makes a pipeline fail, that is, whether it is neither accepted nor an advisory. */
export const isFailure = (finding: Pick<Finding, 'baselineState' | 'entry'>): boolean =>
  isNew(finding) && !isAdvisory(finding.entry);

/** The inputs for creating a report, in addition to the snapshot. */
export interface ReportInput {
  readonly scope: ReportScope;
  readonly baseline: Baseline;
  /** Returns the location of the statement in the contract that an entry violates. */
  readonly placeOf: (entry: LedgerEntry) => ContractPlace;
  /**
   * The statistics with which those of the report's release are compared. By default, they are those of the release
   * before it. With `none`, nothing is compared.
   */
  readonly comparedWith?: 'none' | readonly ReleaseStatistics[];
}

/**
 * Creates a report from a snapshot and the baseline. The report shows the state of each violation and its share of
 * the traffic.
 */
export function toReport(given: LedgerSnapshot, { scope, baseline, placeOf, comparedWith }: ReportInput): Report {
  const snapshot =
    comparedWith === undefined
      ? withLatestDrift(given, scope.release)
      : comparedWith === 'none'
        ? withoutDrift(given)
        : withDriftFrom(given, comparedWith, scope.release);
  const { takenAt, dropped, replicas, lostAt } = snapshot;
  const traffic = snapshot.traffic.filter(
    ({ operation, release }) =>
      (scope.operation === undefined || operation === scope.operation) &&
      (scope.release === undefined || release === scope.release),
  );
  const accepted = new Map(baseline.accepted.map((one) => [one.fingerprint, one]));
  const requestsOf = countBy(traffic.map(({ operation, requests }) => [operation ?? '', requests] as const));
  const findings = snapshot.entries
    .flatMap((entry) => limitedTo(entry, scope))
    .map((entry): Finding => {
      const known = isOutage(entry) ? undefined : accepted.get(entry.fingerprint);
      const requests = requestsOf.get(entry.operation ?? '') ?? 0;
      return {
        entry,
        baselineState: known === undefined ? 'new' : isExpired(known, takenAt) ? 'expired' : 'accepted',
        accepted: known,
        requests,
        share: requests === 0 ? undefined : Math.min(1, entry.count / requests),
        place: placeOf(entry),
      };
    })
    .sort(worstFirst);
  const live = findings.filter(({ entry }) => entry.candidate === undefined);
  const violations = live.filter(({ entry }) => isContractViolation(entry));
  const seen = new Set(snapshot.entries.map(({ fingerprint }) => fingerprint));
  const { since, operation, release, replica } = scope;
  const isPart = [since, operation, release, replica].some((limit) => limit !== undefined);
  return {
    takenAt,
    scope,
    releases: scope.release === undefined ? snapshot.releases : [scope.release],
    traffic,
    statistics: snapshot.statistics.filter(({ release: label }) => release === undefined || label === release),
    requests: traffic.reduce((sum, { requests }) => sum + requests, 0),
    dropped,
    ...(replicas !== undefined && { replicas }),
    ...(lostAt !== undefined && { lostAt }),
    groups: VIOLATION_CATEGORIES.map((category) => ({
      category,
      findings: violations.filter(({ entry }) => entry.category === category),
    })).filter((group) => group.findings.length > 0),
    shadowDifferences: findings.filter(({ entry }) => entry.candidate !== undefined),
    statusChanges: live.filter(({ entry }) => isStatusChange(entry)),
    outages: live.filter(({ entry }) => isOutage(entry)),
    expired: baseline.accepted.filter((one) => isExpired(one, takenAt)),
    sections: [],
    noLongerSeen: isPart ? [] : baseline.accepted.filter(({ fingerprint }) => !seen.has(fingerprint)),
  };
}

/** Returns whether the last day of an acceptance, in UTC, has passed. */
export function isExpired({ expires }: AcceptedViolation, now: number): boolean {
  if (expires === undefined) return false;
  const endsAt = endOfDay(expires);
  // An acceptance with an invalid date must not last forever.
  return Number.isNaN(endsAt) || now >= endsAt;
}

/**
 * Limits an entry to the scope, because an exported file may cover more than the scope. Returns an empty list if
 * nothing remains.
 */
function limitedTo(entry: LedgerEntry, { since, operation, release }: ReportScope): readonly LedgerEntry[] {
  if (operation !== undefined && entry.operation !== operation) return [];
  if (since !== undefined && entry.lastSeenAt < since) return [];
  if (release === undefined) return [entry];
  const count = entry.releases[release] ?? 0;
  return count === 0 ? [] : [{ ...entry, count, releases: { [release]: count } }];
}

/** Compares two findings: unaccepted violations come first, then findings are sorted by severity and frequency. */
export function worstFirst(a: Finding, b: Finding): number {
  return (
    Number(isNew(b)) - Number(isNew(a)) ||
    severityOf(a.entry) - severityOf(b.entry) ||
    (b.share ?? 0) - (a.share ?? 0) ||
    b.entry.count - a.entry.count ||
    (a.entry.fingerprint < b.entry.fingerprint ? -1 : 1)
  );
}

function countBy(pairs: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [key, count] of pairs) counts.set(key, (counts.get(key) ?? 0) + count);
  return counts;
}

/** Summarizes a report in one line. The line is meaningful even if there was no traffic. */
export function summaryWords(report: Report): string {
  const findings = report.groups.flatMap((group) => group.findings);
  const countOf = (state: Finding['baselineState']) =>
    findings.filter(({ baselineState }) => baselineState === state).length;
  const requests = countWords(report.requests, 'request');
  if (report.requests === 0 && [...findings, ...report.outages, ...report.statusChanges].length === 0)
    return `No traffic was recorded${scopeWords(report)}: there is nothing to report.`;
  if (findings.length === 0) return `No violations in ${requests}${scopeWords(report)}.`;
  const parts = [
    `${countOf('new')} new`,
    ...(countOf('expired') > 0 ? [`${countOf('expired')} with an expired acceptance`] : []),
    ...(countOf('accepted') > 0 ? [`${countOf('accepted')} accepted`] : []),
  ];
  const causes = countCauses(findings);
  const sameCause = causes < findings.length ? ` with ${countWords(causes, 'cause')}` : '';
  return `${countWords(findings.length, 'distinct violation')}${sameCause} in ${requests}${scopeWords(report)}: ${parts.join(', ')}.`;
}

/** A section of a report about incidents, with its heading. */
export interface IncidentSection {
  readonly id: 'status-changes' | 'outages';
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** Returns the sections about incidents. Sections without incidents are omitted. */
export function incidentSections({
  statusChanges,
  outages,
}: Pick<Report, 'statusChanges' | 'outages'>): readonly IncidentSection[] {
  return [
    { id: 'status-changes' as const, title: 'Status changes by normalized errors', findings: statusChanges },
    { id: 'outages' as const, title: 'Upstream failures, which are not violations', findings: outages },
  ].filter(({ findings }) => findings.length > 0);
}

/** Returns sentences that explain why a report is incomplete. */
export function incompleteWords({ dropped, lostAt }: Pick<Report, 'dropped' | 'lostAt'>): readonly string[] {
  return [
    ...(dropped === 0 ? [] : [`This report is incomplete: the ledger dropped ${countWords(dropped, 'record')}.`]),
    ...(lostAt === undefined
      ? []
      : [`The shared ledger lost its data; counts from before ${timeWords(lostAt)} UTC are missing.`]),
  ];
}

/**
 * Returns the part of a sentence that describes the scope of a report, or an empty string if the scope is not limited.
 */
function scopeWords({ scope }: Pick<Report, 'scope'>): string {
  return [
    ...(scope.since === undefined ? [] : [` since ${timeWords(scope.since)} UTC`]),
    ...(scope.operation === undefined ? [] : [` for ${scope.operation}`]),
    ...(scope.release === undefined ? [] : [` in release ${scope.release}`]),
    ...(scope.replica === undefined ? [] : [` at ${scope.replica} in the last 48 hours`]),
  ].join('');
}
