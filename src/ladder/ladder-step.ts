import type { CheckName, Checks } from '../model/checks.ts';

/** The numbers that moved a check: what was seen, how much of it failed, and in how long. */
export interface LadderEvidence {
  readonly judged: number;
  readonly failed: number;
  readonly windowSeconds: number;
}

/**
 * Where the ladder stands with one check of one operation. `lifted` is a promotion that an operator took back: it changes
 * no level, and keeps the check from being promoted again.
 */
export interface LadderStep extends LadderEvidence {
  readonly operation: string;
  readonly check: CheckName;
  readonly move: 'promoted' | 'demoted' | 'lifted';
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Everything that the ladder keeps; it belongs to one version of the contract. */
export interface LadderState {
  /** The version of the contract that every step was made under. */
  readonly contract: string;
  /** Epoch milliseconds: since when this version has been the one. */
  readonly since: number;
  /** At most one for each operation and check. */
  readonly steps: readonly LadderStep[];
}

/** The checks that the ladder knows of, in the order of a request: `undocumented` concerns what is no operation. */
export const LADDER_CHECKS = ['authentication', 'requests', 'responses', 'permissions', 'pageBounds'] as const;

/** The checks that may be promoted: who is let in at all is for a person to decide. */
export const PROMOTABLE_CHECKS = ['requests', 'responses', 'permissions', 'pageBounds'] as const;

/** The step of one check of one operation. */
export function stepOf(steps: readonly LadderStep[], operation: string, check: CheckName): LadderStep | undefined {
  return steps.find((step) => step.operation === operation && step.check === check);
}

/** The levels of one operation, as they are written down and as they hold now. */
export interface OperationLevels {
  readonly operation: string;
  readonly configured: Checks;
  readonly effective: Checks;
  /** The checks whose level is written down for this very operation. */
  readonly explicit: readonly CheckName[];
}

/**
 * The steps after one of them was taken back. A demotion goes, and so does the mark of a lifted promotion; a promotion
 * leaves that mark, so that the same numbers do not promote the check again.
 */
export function liftStep(steps: readonly LadderStep[], lifted: LadderStep, now: number): readonly LadderStep[] {
  const rest = steps.filter((step) => step !== lifted);
  return lifted.move === 'promoted' ? [...rest, { ...lifted, move: 'lifted', at: now }] : rest;
}

/**
 * The state to start with. Steps belong to the version of the contract that they were made under: with another one every
 * check is back at its configured level, so that a corrected contract is tried at once.
 */
export function startingState(kept: LadderState | undefined, contract: string, now: number): LadderState {
  return kept?.contract === contract ? kept : { contract, since: now, steps: [] };
}
