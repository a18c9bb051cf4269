import { createTrace } from '../../../src/model/trace.ts';
import { admitted } from '../../../src/pipeline/dispatch.ts';
import { operation, type Stage } from '../stage.ts';

/** Measures finding the caller's grants and audience, and creating the exchange for the plan. */
export const exchange: Stage = {
  name: 'exchange',
  what: 'admitted, of a remembered target: verdict on its parameters, grants, audience',
  paidBy: 'hit',
  prepare: ({ assembly: { gateway }, target, exchange: { arrival, principal }, trace }) =>
    operation(
      () => ({ arrival, principal, trace: createTrace(trace) }),
      (request) => admitted(gateway, request, target),
    ),
};
