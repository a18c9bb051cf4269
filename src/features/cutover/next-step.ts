import type { Clock } from '../../lib/clock.ts';
import type { Decision } from './cutover-state.ts';
import type { NewDecision } from './cutover-store.ts';
import { type CutoverOptions, EVERY } from './options.ts';

/** How often the rule is applied at most, in milliseconds. */
const CHECK_MS = 1_000;

/**
 * Returns the function that applies the rule of `steps` to the decision in force. It returns the next step if its time
 * has come: the share before has been in force for long enough, the new server has served enough, and no limit has been
 * exceeded lately. `served` is the number of exchanges since `changedAt`, when this gateway began to apply the shares,
 * and `exceededAt` is when it last knew of an exceeded limit: the clocks of other gateways may be wrong.
 */
export function nextStep(
  { steps, operations, return: { coolDownSeconds } }: Pick<CutoverOptions, 'steps' | 'operations' | 'return'>,
  clock: Clock,
  noticing: () => number,
): (inForce: Decision, served: number, changedAt: number, exceededAt: number) => NewDecision | undefined {
  let checkedAt = -Infinity;
  return ({ phase, shares }, served, changedAt, exceededAt) => {
    const now = clock();
    if (steps.length === 0 || phase !== 'running' || now - checkedAt < CHECK_MS) return undefined;
    checkedAt = now;
    const share = shares[EVERY] ?? operations[EVERY]?.share ?? 0;
    const next = steps.find((step) => step.share > share);
    if (next === undefined || served < next.minimum) return undefined;
    if (now - changedAt < next.afterSeconds * 1000) return undefined;
    if (exceededAt > 0 && now - exceededAt < coolDownSeconds * 1000) return undefined;
    if (next.callersNotice !== undefined && noticing() > next.callersNotice) return undefined;
    return {
      cause: 'rule',
      reason: `cutover.steps: ${share}% for ${next.afterSeconds} s, ${served} exchanges with the new server`,
      by: undefined,
      from: undefined,
      shares: { ...shares, [EVERY]: next.share },
      moves: 'forward',
    };
  };
}
