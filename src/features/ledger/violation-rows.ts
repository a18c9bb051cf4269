import { endOfDay } from '../../lib/clock.ts';
import { type Cause, groupByCause } from '../../engine/model/causes.ts';
import { CHECK_LEVELS, type CheckLevel, type Checks } from '../../engine/model/checks.ts';
import {
  type AcceptedViolation,
  type Baseline,
  type EntryHistory,
  HISTORY_HOURS,
  isContractViolation,
  isOutage,
  type LedgerEntry,
  type LedgerSnapshot,
} from '../../engine/model/ledger-entry.ts';
import { DIFFERENCE, isAdvisory, RELEASE_DRIFT } from '../../engine/model/violation.ts';

/** A violation in the list. */
export interface ViolationRow extends Omit<LedgerEntry, 'samples'> {
  /** The number of requests to the violation's operation. */
  readonly requests: number;
  /**
   * The proportion of the operation's requests that have this violation, from 0 to 1. Undefined if the traffic is
   * unknown.
   */
  readonly share: number | undefined;
  /** The baseline entry. Undefined if the violation is not in the baseline. */
  readonly accepted: (AcceptedViolation & { readonly expired: boolean }) | undefined;
}

/**
 * Combines the ledger's entries with the traffic and the baseline. If a release is given, counts and shares cover only
 * that release, as in its report.
 */
export function violationRows(
  snapshot: LedgerSnapshot,
  baseline: Baseline | undefined,
  now: number,
  release = '',
): ViolationRow[] {
  const requests = new Map<string | undefined, number>();
  for (const one of snapshot.traffic)
    if (release === '' || one.release === release)
      requests.set(one.operation, (requests.get(one.operation) ?? 0) + one.requests);
  const accepted = new Map((baseline?.accepted ?? []).map((one) => [one.fingerprint, one]));
  return snapshot.entries.map(({ samples: _samples, ...entry }) => {
    const all = requests.get(entry.operation) ?? 0;
    const count = release === '' ? entry.count : (entry.releases[release] ?? 0);
    const known = isOutage(entry) ? undefined : accepted.get(entry.fingerprint);
    return {
      ...entry,
      count,
      requests: all,
      share: all === 0 ? undefined : Math.min(1, count / all),
      accepted: known && { ...known, expired: known.expires !== undefined && endOfDay(known.expires) <= now },
    };
  });
}

/** Returns true if a violation was never accepted, or if its acceptance has expired. */
export function isNew({ accepted }: Pick<ViolationRow, 'accepted'>): boolean {
  return accepted === undefined || accepted.expired;
}

/** Returns true if a violation cannot lead to a refusal, whatever the level of its check. */
export function neverRefuses(row: Pick<ViolationRow, 'category' | 'keyword' | 'candidate'>): boolean {
  const { category, candidate } = row;
  // What only the shadow contract or a comparison of releases or servers finds has no effect on messages.
  const isCompared = category === RELEASE_DRIFT || category === DIFFERENCE || candidate !== undefined;
  return isAdvisory(row) || category === 'undocumented' || isCompared;
}

/** A violation in the list, with the level of its check. */
interface LeveledRow extends ViolationRow {
  /** The level in force for the operation. Undefined if the violation never leads to a refusal. */
  readonly level: CheckLevel | undefined;
}

/**
 * A row in the list of causes. It summarizes the violations with the cause: counts are sums, the level is the strictest,
 * and the times are those of the first and the last occurrence. All other members are those of the first violation.
 */
export interface CauseRow extends LeveledRow {
  /** The id of the row: the smallest fingerprint, which is the same in every order. */
  readonly cause: string;
  readonly violations: number;
  /** The number of operations with one of the violations. All undocumented paths count as one. */
  readonly operations: number;
  /** The violations, in the order of the list. Undefined unless the cause is open. */
  readonly members: readonly LeveledRow[] | undefined;
}

/** What determines the list of causes. */
interface CauseListing {
  /** Compares two rows for sorting. It orders the violations with a cause, and the causes. */
  readonly compare: (a: ViolationRow, b: ViolationRow) => number;
  /** Returns the levels in force for an operation. */
  readonly checksOf: (operation: string) => Checks;
  /** The fingerprint of a violation whose cause is open, or an empty string. */
  readonly open: string;
}

/** Groups violations by cause, as reports do, and returns the sorted causes. */
export function causeRows(
  rows: readonly ViolationRow[],
  { compare, checksOf, open }: CauseListing,
): readonly CauseRow[] {
  const leveled = rows.toSorted(compare).map((row) => Object.assign({ level: levelOf(row, checksOf) }, row));
  return groupByCause(leveled, (row) => ({ entry: row, baselineState: stateOf(row) }))
    .map((cause) => causeRow(cause, open))
    .toSorted(compare);
}

function causeRow({ first, others, count }: Cause<LeveledRow>, open: string): CauseRow {
  const members = [first, ...others];
  const requestsOf = new Map(members.map(({ operation, requests }) => [operation, requests]));
  const requests = [...requestsOf.values()].reduce((sum, one) => sum + one, 0);
  const history = historyOf(members);
  return {
    ...first,
    cause: members.map(({ fingerprint }) => fingerprint).reduce((a, b) => (a < b ? a : b)),
    violations: members.length,
    operations: requestsOf.size,
    count,
    requests,
    share: requests === 0 ? undefined : Math.min(1, count / requests),
    // A caller can have several of the violations, so the numbers of callers cannot be added.
    callers: Math.max(...members.map(({ callers }) => callers)),
    level: CHECK_LEVELS.findLast((level) => members.some((one) => one.level === level)),
    firstSeenAt: Math.min(...members.map(({ firstSeenAt }) => firstSeenAt)),
    lastSeenAt: Math.max(...members.map(({ lastSeenAt }) => lastSeenAt)),
    ...(history && { history }),
    members: members.some(({ fingerprint }) => fingerprint === open) ? members : undefined,
  };
}

function historyOf(members: readonly ViolationRow[]): EntryHistory | undefined {
  const known = members.flatMap(({ history }) => (history === undefined ? [] : [history.hours]));
  if (known.length === 0) return undefined;
  const [earliest] = members.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt);
  return {
    hours: Array.from({ length: HISTORY_HOURS }, (_, hour) =>
      known.reduce((sum, hours) => sum + (hours[hour] ?? 0), 0),
    ),
    firstRelease: earliest?.history?.firstRelease,
  };
}

const stateOf = (row: ViolationRow) => (row.accepted === undefined ? 'new' : isNew(row) ? 'expired' : 'accepted');

function levelOf(row: ViolationRow, checksOf: CauseListing['checksOf']): CheckLevel | undefined {
  if (neverRefuses(row) || !isContractViolation(row)) return undefined;
  const levels: Readonly<Partial<Record<LedgerEntry['check'], CheckLevel>>> = checksOf(row.operation ?? '');
  return levels[row.check];
}
