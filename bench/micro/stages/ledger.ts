import type { Stage } from '../stage.ts';

/** The stage in which the ledger records a finished request without violations. */
export const ledger: Stage = {
  name: 'ledger',
  what: 'records.record for the trace of a hit',
  paidBy: 'hit',
  prepare: ({ assembly: { services }, trace }) => ({ run: () => services.records.record(trace) }),
};
