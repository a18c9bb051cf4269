import type { CheckLevel } from '../model/checks.ts';
import type { CheckCounts, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { countsOf } from './counts-of.ts';
import type { OperationLevels } from './ladder-levels.ts';
import { LADDER_CHECKS, type LadderState, type LadderStep, stepOf } from './ladder-step.ts';
import { type NextStep, nextStep } from './next-step.ts';

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
