import { ERRORS } from '../../engine/errors/catalogue.ts';
import type { IsAccepted } from '../../engine/model/acceptance.ts';
import {
  type CheckLevel,
  type CheckName,
  type Checks,
  type JudgedName,
  OPERATION_CHECKS,
} from '../../engine/model/checks.ts';
import {
  type LedgerEntry,
  type CheckCounts,
  isStatusChange,
  type LedgerSnapshot,
} from '../../engine/model/ledger-entry.ts';
import { DIFFERENCE, isAdvisory } from '../../engine/model/violation.ts';
import type { LadderEntry } from './level-entry.ts';

/**
 * One row in the table: an operation's check, its level, its results and the recommended next step. The row `errors`
 * describes the translation of errors: `enforce` means that errors are normalized.
 */
export interface LadderRow {
  readonly operation: string;
  readonly check: JudgedName;
  readonly configured: CheckLevel;
  readonly effective: CheckLevel;
  /** The ladder's decision. Undefined if the check is at its configured level. */
  readonly step: LadderEntry | undefined;
  /** The check's results. `reported` counts the requests that the check would have refused. */
  readonly counts: CheckCounts;
  /** In the row `errors`, the status changes, most frequent first. Empty in all other rows. */
  readonly changes: readonly StatusChange[];
  readonly next: NextStep;
}

/** A change of the upstream's status by the translation of errors, whether it was made or only foretold. */
interface StatusChange {
  /** The upstream's status. */
  readonly from: number;
  /** The status that clients get if errors are normalized. */
  readonly to: number;
  /** The number of responses in the period. */
  readonly count: number;
}

/**
 * Returns one row for each combination of operation and check, and one for the translation of each operation's errors.
 */
export function ladderRows(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  decisions: readonly LadderEntry[],
  minAnswers: number,
  isAccepted: IsAccepted,
): readonly LadderRow[] {
  // The traffic is grouped once rather than for each row, because the console requests hundreds of rows every few
  // seconds.
  const traffic = Map.groupBy(snapshot.traffic, ({ operation }) => operation);
  const entries = Map.groupBy(snapshot.entries, ({ operation }) => operation);
  return levels.flatMap(({ operation, configured, effective, translation }) => {
    const { dropped } = snapshot;
    const own = { traffic: traffic.get(operation) ?? [], entries: entries.get(operation) ?? [], dropped };
    const rows = OPERATION_CHECKS.map((check): LadderRow => {
      const counts = countsOf(own, operation, check, isAccepted);
      const step = decisionOf(decisions, operation, check);
      const level = effective[check];
      const next = nextStep({ level, step, counts, minAnswers, since: snapshot.since, now: snapshot.takenAt });
      return { operation, check, configured: configured[check], effective: level, step, counts, changes: [], next };
    });
    const counts = countsOf(own, operation, 'errors', isAccepted);
    const changes = statusChanges(own.entries, isAccepted);
    const period = periodOf(snapshot.since, snapshot.takenAt);
    const next = nextForErrors(operation, translation, counts, changes, minAnswers, period);
    return [
      ...rows,
      {
        operation,
        check: 'errors',
        configured: translation,
        effective: translation,
        step: undefined,
        counts,
        changes,
        next,
      },
    ];
  });
}

/** Recommends what to do about an operation's errors before they are normalized. */
function nextForErrors(
  operation: string,
  level: CheckLevel,
  { passed, reported, refused }: CheckCounts,
  changes: readonly StatusChange[],
  minAnswers: number,
  period: string,
): NextStep {
  const judged = passed + reported + refused;
  const setting = `operations.${operation}.errors: legacy`;
  if (level === 'off') return { kind: 'off', text: 'off: upstream errors are forwarded unchanged (errors: legacy)' };
  const list = changes.map(({ from, to, count }) => `${from} to ${to}: ${number(count)}`).join(', ');
  const detail = list === '' ? '' : ` (${list}; ${setting} keeps them)`;
  if (level === 'enforce')
    return {
      kind: 'enforced',
      text: `enforced: ${number(refused)} of ${number(judged)} changed status ${period}${detail}`,
    };
  const changed = reported + refused;
  if (changed > 0)
    return {
      kind: 'not yet',
      text: `not yet: ${number(changed)} of ${number(judged)} would change status ${period}${detail}`,
    };
  if (minAnswers > judged)
    return { kind: 'not yet', text: `not yet: ${number(judged)} of ${number(minAnswers)} checked ${period}` };
  return { kind: 'ready', text: `ready: ${number(judged)} checked, 0 would change status ${period}` };
}

/** Returns the changes in a ledger's entries for one operation, most frequent first, without the accepted ones. */
function statusChanges(entries: readonly LedgerEntry[], isAccepted: IsAccepted): readonly StatusChange[] {
  const counts = new Map<string, StatusChange>();
  for (const { keyword, status: from, count } of unacceptedChanges(entries, isAccepted)) {
    const to = keyword in ERRORS ? ERRORS[keyword as keyof typeof ERRORS].status : undefined;
    if (from === undefined || to === undefined) continue;
    const key = `${from} ${to}`;
    counts.set(key, { from, to, count: count + (counts.get(key)?.count ?? 0) });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count || a.from - b.from);
}

/**
 * Returns the entries for status changes that are not accepted. A change is also accepted if the baseline accepts every
 * violation of the contract in the responses with this status: the response is then forwarded as it is.
 */
function unacceptedChanges(entries: readonly LedgerEntry[], isAccepted: IsAccepted): readonly LedgerEntry[] {
  const isViolated = entries.filter((one) => one.check === 'responses' && isBreaking(one));
  return entries.filter(isStatusChange).filter((change) => {
    if (isAccepted(change)) return false;
    const causes = isViolated.filter(
      ({ status = 0, keyword }) => status === change.status && (status >= 300 || keyword === 'error-in-success'),
    );
    return causes.length === 0 || !causes.every(isAccepted);
  });
}

// A wrong content coding is not part of the check's verdict.
const isBreaking = (one: LedgerEntry) =>
  // How another server responds says nothing about this one.
  one.candidate === undefined && one.category !== 'coding' && one.category !== DIFFERENCE && !isAdvisory(one);

/** The recommended next step, and a short sentence with the numbers that justify it. */
interface NextStep {
  /** A check can be `ready` to be enforced, `not yet` ready, already `enforced`, `demoted` by the ladder, or `off`. */
  readonly kind: 'ready' | 'not yet' | 'enforced' | 'demoted' | 'off';
  readonly text: string;
}

/** The facts that determine a recommendation. */
interface NextStepFacts {
  /** The effective level. */
  readonly level: CheckLevel;
  readonly step: LadderEntry | undefined;
  readonly counts: CheckCounts;
  /** The minimum number of results needed for a recommendation. */
  readonly minAnswers: number;
  /** The start of the period, in epoch milliseconds. Undefined for the whole ledger. */
  readonly since: number | undefined;
  /** The current time, in epoch milliseconds. */
  readonly now: number;
}

/** Recommends the next step for an operation's check. */
function nextStep({ level, step, counts, minAnswers, since, now }: NextStepFacts): NextStep {
  const { passed, reported, refused } = counts;
  const judged = passed + reported + refused;
  // The results include requests that were refused while the check was enforced.
  const failed = reported + refused;
  const period = periodOf(since, now);
  if (level === 'off') return { kind: 'off', text: 'off: set it to report to get numbers' };
  if (level === 'enforce') {
    // Some requests were only reported, either because they were handled before the check was enforced or because the
    // gateway had a different configuration.
    const unrefused = reported === 0 ? '' : `, ${number(reported)} only reported,`;
    return {
      kind: 'enforced',
      text: `enforced: ${number(refused)} of ${number(judged)} refused${unrefused} ${period}`,
    };
  }
  if (step?.move === 'demoted')
    return {
      kind: 'demoted',
      text: `demoted: correct the contract, or lift the demotion; ${number(failed)} of ${number(judged)} failed ${period}`,
    };
  const words = refused > 0 ? 'were or would have been refused' : 'would have been refused';
  if (failed > 0)
    return { kind: 'not yet', text: `not yet: ${number(failed)} of ${number(judged)} ${words} ${period}` };
  if (judged < minAnswers)
    return { kind: 'not yet', text: `not yet: ${number(judged)} of ${number(minAnswers)} checked ${period}` };
  return { kind: 'ready', text: `ready: ${number(judged)} checked, 0 would have been refused ${period}` };
}

const format = new Intl.NumberFormat('en-US');
const number = (value: number) => format.format(value);

const periodOf = (since: number | undefined, now: number): string =>
  since === undefined ? 'in the whole ledger' : `in ${periodWords(now - since)}`;

/** Formats a duration in a suitable unit, for example `7 d`, `36 h` or `10 min`. */
function periodWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes >= 2880) return `${Math.round(minutes / 1440)} d`;
  return minutes >= 120 ? `${Math.round(minutes / 60)} h` : `${minutes} min`;
}

/**
 * Returns the results in a snapshot for one check of one operation, across all releases. A response counts as passed
 * if it was reported or refused only because of violations that have since been accepted.
 */
export function countsOf(
  snapshot: Pick<LedgerSnapshot, 'traffic' | 'entries' | 'dropped'>,
  operation: string,
  check: JudgedName,
  isAccepted: IsAccepted,
): CheckCounts {
  let [passed, reported, refused] = [0, 0, 0];
  for (const traffic of snapshot.traffic) {
    const counts = traffic.operation === operation ? traffic.checks[check] : undefined;
    if (counts === undefined) continue;
    passed += counts.passed;
    reported += counts.reported;
    refused += counts.refused;
  }
  const counts = { passed, reported, refused };
  if (snapshot.dropped > 0) return counts;
  const own = snapshot.entries.filter((one) => one.operation === operation);
  if (check === 'errors') return withAcceptance(counts, own.filter(isStatusChange), unacceptedChanges(own, isAccepted));
  if (check !== 'responses') return counts;
  const broken = own.filter((one) => one.check === 'responses' && isBreaking(one));
  return withAcceptance(
    counts,
    broken,
    broken.filter((one) => !isAccepted(one)),
  );
}

/**
 * Counts a response as passed if it can contain only accepted violations. Only violations in responses can be accepted,
 * so the other checks' results do not depend on the baseline.
 */
function withAcceptance(
  counts: CheckCounts,
  all: readonly LedgerEntry[],
  unaccepted: readonly LedgerEntry[],
): CheckCounts {
  if (unaccepted.length === all.length) return counts;
  // A response can contain several violations, so this sum is an upper bound.
  const limit = unaccepted.reduce((sum, { count: found }) => sum + found, 0);
  const refused = Math.min(counts.refused, limit);
  const reported = Math.min(counts.reported, limit - refused);
  return { passed: counts.passed + counts.reported + counts.refused - reported - refused, reported, refused };
}

/** Returns the decision about an operation's check, or undefined if there is none. */
export function decisionOf(
  decisions: readonly LadderEntry[],
  operation: string,
  check: CheckName,
): LadderEntry | undefined {
  return decisions.find((one) => one.operation === operation && one.check === check);
}

/** The configured levels of a single operation, and its levels with the ladder's decisions. */
export interface OperationLevels {
  readonly operation: string;
  readonly configured: Checks;
  readonly effective: Checks;
  /** What the translation of the operation's errors does. The ladder never changes it. */
  readonly translation: CheckLevel;
  /** The checks whose levels are configured for this single operation. */
  readonly explicit: readonly CheckName[];
}
