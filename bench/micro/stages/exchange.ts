import { toExchange } from '../../../src/pipeline/dispatch.ts';
import type { Stage } from '../stage.ts';

/** Grants and audience of the caller, and the exchange that the plan gets. */
export const exchange: Stage = {
  name: 'exchange',
  what: 'toExchange: grants, audience',
  paidBy: 'hit',
  prepare: ({ assembly: { house }, plan, exchange: parts }) => ({ run: () => toExchange(house, plan, parts) }),
};
