import type { LadderStep } from './ladder-step.ts';

/**
 * The steps after one of them was taken back. A demotion goes, and so does the mark of a lifted promotion; a promotion
 * leaves that mark, so that the same numbers do not promote the check again.
 */
export function liftStep(steps: readonly LadderStep[], lifted: LadderStep, now: number): readonly LadderStep[] {
  const rest = steps.filter((step) => step !== lifted);
  return lifted.move === 'promoted' ? [...rest, { ...lifted, move: 'lifted', at: now }] : rest;
}
