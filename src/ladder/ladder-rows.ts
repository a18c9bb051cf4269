import type { CheckLevel, CheckName } from '../model/checks.ts';
import type { CheckCounts, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { LADDER_CHECKS, type LadderState, type LadderStep, type OperationLevels, stepOf } from './ladder-step.ts';

/** One rung as people look at it: a check of an operation, where it stands, what it said, and what to do next. */
export interface LadderRow {
  readonly operation: string;
  readonly check: (typeof LADDER_CHECKS)[number];
  readonly configured: CheckLevel;
  readonly effective: CheckLevel;
  /** The step that moved it, with when and why; undefined where the configuration decides. */
  readonly step: LadderStep | undefined;
  /** `reported` are the requests that the check would have refused. */
  readonly counts: CheckCounts;
  readonly next: NextStep;
}

/** One row for each operation and check. */
export function ladderRows(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  state: LadderState,
  minAnswers: number,
): readonly LadderRow[] {
  // A contract of hundreds of operations is looked at every few seconds: each looks at its own traffic alone.
  const traffic = Map.groupBy(snapshot.traffic, ({ operation }) => operation);
  return levels.flatMap(({ operation, configured, effective }) => {
    const own = { traffic: traffic.get(operation) ?? [] };
    return LADDER_CHECKS.map((check) => {
      const counts = countsOf(own, operation, check);
      const step = stepOf(state.steps, operation, check);
      const level = effective[check];
      const next = nextStep({ level, step, counts, minAnswers, since: snapshot.since, now: snapshot.takenAt });
      return { operation, check, configured: configured[check], effective: level, step, counts, next };
    });
  });
}

/** What is recommended, and the numbers that justify it as one short sentence. */
export interface NextStep {
  /** `ready` to be enforced, `not yet`, `enforced` already, `demoted` by the ladder, or `off`. */
  readonly kind: 'ready' | 'not yet' | 'enforced' | 'demoted' | 'off';
  readonly text: string;
}

/** What a recommendation is made from. */
export interface NextStepFacts {
  /** The level that holds. */
  readonly level: CheckLevel;
  readonly step: LadderStep | undefined;
  readonly counts: CheckCounts;
  /** Judged requests below which nothing is recommended. */
  readonly minAnswers: number;
  /** Epoch milliseconds; the start of the counted period, undefined for everything that is remembered. */
  readonly since: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Recommends the next step of one check of one operation. */
export function nextStep({ level, step, counts, minAnswers, since, now }: NextStepFacts): NextStep {
  const { passed, reported, refused } = counts;
  const judged = passed + reported + refused;
  // What an earlier level refused counts against enforcing as much as what this one would have.
  const failed = reported + refused;
  const period = since === undefined ? 'in all that is remembered' : `in ${periodWords(now - since)}`;
  if (level === 'off') return { kind: 'off', text: 'off: set it to report to get numbers' };
  if (level === 'enforce') {
    // They came while it did not refuse, or to a gateway of another configuration than the one that is read here.
    const unrefused = reported === 0 ? '' : `, ${number(reported)} only reported,`;
    return {
      kind: 'enforced',
      text: `enforced: ${number(refused)} of ${number(judged)} refused${unrefused} ${period}`,
    };
  }
  if (step?.move === 'demoted')
    return {
      kind: 'demoted',
      text: `demoted: correct the contract, or lift it; ${number(failed)} of ${number(judged)} failed ${period}`,
    };
  const words = refused > 0 ? 'were or would have been refused' : 'would have been refused';
  if (failed > 0)
    return { kind: 'not yet', text: `not yet: ${number(failed)} of ${number(judged)} ${words} ${period}` };
  if (judged < minAnswers)
    return { kind: 'not yet', text: `not yet: ${number(judged)} of ${number(minAnswers)} judged ${period}` };
  return { kind: 'ready', text: `ready: ${number(judged)} judged, 0 would have been refused ${period}` };
}

const format = new Intl.NumberFormat('en-US');
const number = (value: number) => format.format(value);

/** A length of time in the largest unit that it fills: `7 d`, `36 h`, `10 min`. */
function periodWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes >= 2880) return `${Math.round(minutes / 1440)} d`;
  return minutes >= 120 ? `${Math.round(minutes / 60)} h` : `${minutes} min`;
}

/** What a check of an operation said in the period of a snapshot, over all release labels. */
export function countsOf(snapshot: Pick<LedgerSnapshot, 'traffic'>, operation: string, check: CheckName): CheckCounts {
  let [passed, reported, refused] = [0, 0, 0];
  for (const traffic of snapshot.traffic) {
    const counts = traffic.operation === operation ? traffic.checks[check] : undefined;
    if (counts === undefined) continue;
    passed += counts.passed;
    reported += counts.reported;
    refused += counts.refused;
  }
  return { passed, reported, refused };
}
