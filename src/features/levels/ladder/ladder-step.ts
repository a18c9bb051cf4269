import type { CheckLevel, CheckName, Checks } from '../../../engine/model/checks.ts';

/** The numbers that led to a step: the results, the failures and the length of the window. */
export interface LadderEvidence {
  readonly judged: number;
  readonly failed: number;
  readonly windowSeconds: number;
}

/**
 * A change to the level of one check for one operation. `lifted` means that an operator has lifted a promotion. A
 * `lifted` step does not change the level, but prevents the check from being promoted again.
 */
export interface LadderStep extends LadderEvidence {
  readonly operation: string;
  readonly check: CheckName;
  readonly move: 'promoted' | 'demoted' | 'lifted';
  /** When the step was taken, in epoch milliseconds. */
  readonly at: number;
}

/** The ladder's state for one version of the contract. */
export interface LadderState {
  /** The contract version to which all steps belong. */
  readonly contract: string;
  /** When this contract version was first used, in epoch milliseconds. */
  readonly since: number;
  /** The steps, at most one for each combination of operation and check. */
  readonly steps: readonly LadderStep[];
}

/**
 * The checks that have steps, in the order in which they run. `undocumented` is not included, because it does not
 * belong to an operation.
 */
export const LADDER_CHECKS = ['authentication', 'requests', 'responses', 'permissions', 'pageBounds'] as const;

/** The checks that can be promoted automatically. Only a person may decide to enforce authentication. */
export const PROMOTABLE_CHECKS = ['requests', 'responses', 'permissions', 'pageBounds'] as const;

/** Returns the step for an operation's check, or undefined if there is none. */
export function stepOf(steps: readonly LadderStep[], operation: string, check: CheckName): LadderStep | undefined {
  return steps.find((step) => step.operation === operation && step.check === check);
}

/** The configured and effective levels of a single operation. */
export interface OperationLevels {
  readonly operation: string;
  readonly configured: Checks;
  readonly effective: Checks;
  /** What the translation of the operation's errors does. The ladder never changes it. */
  readonly translation: CheckLevel;
  /** The checks whose levels are configured for this single operation. */
  readonly explicit: readonly CheckName[];
}

/**
 * Returns the steps that remain after one step is lifted. A demotion or a `lifted` mark is removed. A promotion is
 * replaced with a `lifted` mark, so that the same results do not lead to another promotion.
 */
export function liftStep(steps: readonly LadderStep[], lifted: LadderStep, now: number): readonly LadderStep[] {
  const rest = steps.filter((step) => step !== lifted);
  return lifted.move === 'promoted' ? [...rest, { ...lifted, move: 'lifted', at: now }] : rest;
}

/**
 * Returns the state at startup. Steps apply only to the contract version under which they were taken. With any other
 * version, all checks start at their configured levels, so that a corrected contract takes effect immediately.
 */
export function startingState(stored: LadderState | undefined, contract: string, now: number): LadderState {
  return stored?.contract === contract ? stored : { contract, since: now, steps: [] };
}
