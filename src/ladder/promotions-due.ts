import { HOUR_MS } from '../lib/hours.ts';
import type { LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { countsOf } from './counts-of.ts';
import type { OperationLevels } from './ladder-levels.ts';
import type { PromotionOptions } from './ladder-options.ts';
import { type LadderState, type LadderStep, PROMOTABLE_CHECKS, stepOf } from './ladder-step.ts';

/** The start of the period that promotions are decided over, in epoch milliseconds. */
export function promotionPeriodStart({ windowHours }: PromotionOptions, now: number): number {
  return now - windowHours * HOUR_MS;
}

/**
 * The promotions that the numbers of a snapshot justify: checks in report that judged enough and would have refused
 * nothing. None before the contract has been the same for the whole window, since what an earlier one let pass proves
 * nothing; none for a level that is written down for the operation, nor for a check that has moved before.
 */
export function promotionsDue(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  state: LadderState,
  options: PromotionOptions,
): readonly LadderStep[] {
  const { takenAt } = snapshot;
  if (state.since > promotionPeriodStart(options, takenAt)) return [];
  const checks = PROMOTABLE_CHECKS.filter((check) => options.checks.includes(check));
  return levels.flatMap(({ operation, effective, explicit }) =>
    checks.flatMap((check) => {
      if (effective[check] !== 'report' || explicit.includes(check)) return [];
      if (stepOf(state.steps, operation, check) !== undefined) return [];
      const { passed, reported, refused } = countsOf(snapshot, operation, check);
      const judged = passed + reported + refused;
      if (judged < options.minAnswers || reported + refused > 0) return [];
      const windowSeconds = options.windowHours * 3600;
      return [{ operation, check, move: 'promoted' as const, at: takenAt, judged, failed: 0, windowSeconds }];
    }),
  );
}
