import type { CheckLevel, CheckName, Checks } from '../model/checks.ts';
import type { LadderState, LadderStep, OperationLevels } from './ladder-step.ts';

/** A check whose effective level differs from the configured one. */
interface MovedLevel {
  readonly operation: string;
  readonly check: CheckName;
  readonly configured: CheckLevel;
  readonly effective: CheckLevel;
  readonly step: LadderStep;
}

/** Returns every check whose level the ladder has changed. */
export function movedLevels(levels: readonly OperationLevels[], { steps }: LadderState): readonly MovedLevel[] {
  return levels.flatMap(({ operation, configured, effective }) =>
    steps.flatMap((step) => {
      const { check } = step;
      if (step.operation !== operation || effective[check] === configured[check]) return [];
      return [{ operation, check, configured: configured[check], effective: effective[check], step }];
    }),
  );
}

/** Describes a changed level: the effective and the configured level, and the reason. */
export function movedWords({ check, configured, effective, step }: MovedLevel): string {
  return `${check} ${effective} instead of ${configured}: ${stepWords(step)}`;
}

/** Describes a step: when it happened and for which numbers. */
export function stepWords({ move, at, judged, failed, windowSeconds }: LadderStep): string {
  const day = `${new Date(at).toISOString().slice(0, 16)}Z`;
  if (move === 'lifted') return `promotion undone ${day}`;
  if (move === 'demoted')
    return `demoted ${day}, ${count(failed)} of ${count(judged)} responses failed in ${count(windowSeconds)} s`;
  return `promoted ${day}, none of ${count(judged)} would have been refused in ${count(windowSeconds / 3600)} h`;
}

/** Describes the changed levels of one operation. */
export function movedOf(levels: readonly OperationLevels[], state: LadderState, operation: string): readonly string[] {
  if (!state.steps.some((step) => step.operation === operation)) return [];
  return movedLevels(
    levels.filter((one) => one.operation === operation),
    state,
  ).map(movedWords);
}

const count = (value: number) => value.toLocaleString('en-US');

/** The configured levels of one operation. */
export interface ConfiguredLevels {
  readonly operation: string;
  readonly checks: Checks;
  /** The checks whose level is configured for this operation itself. The ladder never raises those. */
  readonly explicit: readonly CheckName[];
}

/** Returns the effective levels of an operation: the configured ones, changed by the ladder's steps. */
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
