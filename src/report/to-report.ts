import type { AcceptedViolation, Baseline, LedgerEntry } from '../model/ledger-entry.ts';
import type { LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { VIOLATION_CATEGORIES } from '../model/violation.ts';
import { type ContractPlace, type Finding, isNew, type Report, type ReportScope } from './report.ts';

/** The input of a report in addition to the snapshot. */
interface ReportInput {
  readonly scope: ReportScope;
  readonly baseline: Baseline;
  /** Returns the place in the contract that an entry violates. */
  readonly placeOf: (entry: LedgerEntry) => ContractPlace;
}

const DAY_MS = 86_400_000;

/** Creates a report from a snapshot and the baseline: the state of each violation and its share of the traffic. */
export function toReport(snapshot: LedgerSnapshot, { scope, baseline, placeOf }: ReportInput): Report {
  const { takenAt, dropped } = snapshot;
  const traffic = snapshot.traffic.filter(
    ({ operation, release }) =>
      (scope.operation === undefined || operation === scope.operation) &&
      (scope.release === undefined || release === scope.release),
  );
  const accepted = new Map(baseline.accepted.map((one) => [one.fingerprint, one]));
  const requestsOf = countBy(traffic.map(({ operation, requests }) => [operation ?? '', requests] as const));
  const findings = snapshot.entries
    .flatMap((entry) => within(entry, scope))
    .map((entry): Finding => {
      const known = accepted.get(entry.fingerprint);
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
  const seen = new Set(snapshot.entries.map(({ fingerprint }) => fingerprint));
  const isPart = scope.since !== undefined || scope.operation !== undefined || scope.release !== undefined;
  return {
    takenAt,
    scope,
    releases: scope.release === undefined ? snapshot.releases : [scope.release],
    traffic,
    requests: traffic.reduce((sum, { requests }) => sum + requests, 0),
    dropped,
    groups: VIOLATION_CATEGORIES.map((category) => ({
      category,
      findings: live.filter(({ entry }) => entry.category === category),
    })).filter((group) => group.findings.length > 0),
    candidates: findings.filter(({ entry }) => entry.candidate !== undefined),
    expired: baseline.accepted.filter((one) => isExpired(one, takenAt)),
    noLongerSeen: isPart ? [] : baseline.accepted.filter(({ fingerprint }) => !seen.has(fingerprint)),
  };
}

/** Returns whether the last day of an acceptance is over, in UTC. */
export function isExpired({ expires }: AcceptedViolation, now: number): boolean {
  if (expires === undefined) return false;
  const lastDay = Date.parse(`${expires}T00:00:00Z`);
  // An invalid date must not accept a violation forever.
  return Number.isNaN(lastDay) || now >= lastDay + DAY_MS;
}

/** Limits an entry to the scope, as an exported file may contain more; returns an empty list if nothing is left. */
function within(entry: LedgerEntry, { since, operation, release }: ReportScope): readonly LedgerEntry[] {
  if (operation !== undefined && entry.operation !== operation) return [];
  if (since !== undefined && entry.lastSeenAt < since) return [];
  if (release === undefined) return [entry];
  const count = entry.releases[release] ?? 0;
  return count === 0 ? [] : [{ ...entry, count, releases: { [release]: count } }];
}

function worstFirst(a: Finding, b: Finding): number {
  return (
    Number(isNew(b)) - Number(isNew(a)) ||
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
