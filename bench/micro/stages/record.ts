import type { Stage } from '../stage.ts';

/** The stage that counts a finished hit. */
export const record: Stage = {
  name: 'record',
  what: 'metrics.record for the trace of a hit',
  paidBy: 'hit',
  prepare: ({ assembly: { services }, trace }) => ({ run: () => services.metrics.record(trace) }),
};
