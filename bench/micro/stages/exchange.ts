import { createTrace } from '../../../src/engine/model/trace.ts';
import { admitted } from '../../../src/engine/pipeline/dispatch.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that finds the caller's grants and audience and creates the exchange for the plan. */
export const exchange: Stage = {
  name: 'exchange',
  what: 'admitting a request for a remembered target: verdict on its parameters, grants, audience',
  paidBy: 'hit',
  prepare: ({ assembly: { gateway }, target, exchange: { arrival, principal }, trace }) =>
    operation(
      () => ({ arrival, principal, trace: createTrace(trace) }),
      (request) => admitted(gateway, request, target),
    ),
};
