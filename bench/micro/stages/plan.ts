import { createTrace } from '../../../src/engine/model/trace.ts';
import { operation, type Stage } from '../stage.ts';

/** The whole plan of a hit, from the exchange to the reply. */
export const plan: Stage = {
  name: 'plan of a hit',
  what: 'all stages from authorize to the stored response (includes authorize, key, cache look-up)',
  paidBy: 'hit',
  prepare: ({ plan: { handle }, exchange, trace }) => {
    if (handle({ ...exchange, trace: createTrace(trace) }) instanceof Promise)
      throw new Error('the request is not a hit');
    return operation(() => ({ ...exchange, trace: createTrace(trace) }), handle);
  },
};
