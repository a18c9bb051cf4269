import type { CheckName } from '../model/checks.ts';

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
