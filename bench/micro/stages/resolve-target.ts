import type { Arrival } from '../../../src/engine/model/arrival.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that resolves a target, measured with a target that is in the memo. */
export const resolveTarget: Stage = {
  name: 'resolve target',
  what: 'targets.resolve for a remembered target: hashing the text, updating the LRU order',
  paidBy: 'hit',
  prepare: ({ assembly: { gateway }, arrival, plan }) => {
    const text = (): Arrival => ({ ...arrival, rawTarget: fresh(arrival.rawTarget) });
    // Reading this path throws an error. The path is read only if the target is not in the memo.
    const unread = Object.defineProperty(text(), 'path', {
      get: () => {
        throw new Error('the target is not remembered');
      },
    });
    if (gateway.targets.resolve(unread).plan !== plan) throw new Error('the target belongs to another plan');
    return operation(text, (one) => gateway.targets.resolve(one));
  },
};
