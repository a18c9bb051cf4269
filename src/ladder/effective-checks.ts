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
  const levels = { ...checks };
  for (const { move, check, ...step } of steps) {
    if (step.operation !== operation) continue;
    if (move === 'demoted' && levels[check] === 'enforce') levels[check] = 'report';
    else if (move === 'promoted' && mayRaise && levels[check] === 'report' && !explicit.includes(check))
      levels[check] = 'enforce';
  }
  return levels;
}
