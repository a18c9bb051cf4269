import type { Arrival } from '../../../src/model/arrival.ts';
import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** Finding out what a target means whose page came from the cache before. */
export const resolveTarget: Stage = {
  name: 'resolve target',
  what: 'targets.resolve of a remembered target: hash of the text, LRU order',
  paidBy: 'hit',
  prepare: ({ assembly: { gateway }, arrival, plan }) => {
    const text = (): Arrival => ({ ...arrival, rawTarget: fresh(arrival.rawTarget) });
    // Whatever is not in the memo would ask for the path.
    const unread = Object.defineProperty(text(), 'path', {
      get: () => {
        throw new Error('the target is not remembered');
      },
    });
    if (gateway.targets.resolve(unread).plan !== plan) throw new Error('the target is one of another plan');
    return operation(text, (one) => gateway.targets.resolve(one));
  },
};
