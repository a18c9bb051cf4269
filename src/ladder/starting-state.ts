import type { LadderState } from './ladder-step.ts';

/**
 * The state to start with. Steps belong to the version of the contract that they were made under: with another one every
 * check is back at its configured level, so that a corrected contract is tried at once.
 */
export function startingState(kept: LadderState | undefined, contract: string, now: number): LadderState {
  return kept?.contract === contract ? kept : { contract, since: now, steps: [] };
}
