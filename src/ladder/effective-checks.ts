import type { CheckName, Checks } from '../model/checks.ts';
import type { LadderStep } from './ladder-step.ts';

/** What the configuration says of the checks of one operation. */
export interface ConfiguredLevels {
  readonly operation: string;
  readonly checks: Checks;
  /** The checks whose level is written down for this very operation: the ladder never raises those. */
  readonly explicit: readonly CheckName[];
}

/** The levels that hold for one operation: the configured ones, with the ladder's steps over them. */
export function effectiveChecks(
  { operation, checks, explicit }: ConfiguredLevels,
  steps: readonly LadderStep[],
  mayRaise: boolean,
): Checks {
  return steps.reduce<Checks>((levels, { move, check, ...step }) => {
    if (step.operation !== operation) return levels;
    if (move === 'demoted' && levels[check] === 'enforce') return { ...levels, [check]: 'report' };
    const raised = move === 'promoted' && mayRaise && levels[check] === 'report' && !explicit.includes(check);
    return raised ? { ...levels, [check]: 'enforce' } : levels;
  }, checks);
}
