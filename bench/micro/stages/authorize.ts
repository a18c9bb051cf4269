import { disabledOperations } from '../../../src/engine/compile-gateway.ts';
import { createDecide } from '../../../src/engine/pipeline/decide-request.ts';
import type { Stage } from '../stage.ts';

/** The stage that decides whether the caller has the required permission. */
export const authorize: Stage = {
  name: 'authorize',
  what: "the permission decision (createDecide), based on the caller's grants",
  paidBy: 'hit',
  prepare: ({ settings, start, assembly: { services }, plan, exchange }) => {
    const { permissions, contract } = start;
    const { ownership, lookUp } = services;
    const off = disabledOperations(settings, contract.operations);
    const decide = createDecide({
      permissions,
      ownership,
      findOwner: settings.profile.findOwner,
      lookUp,
      disabledOperations: off,
    });
    const own = { ...exchange, grants: permissions.grantsOf(exchange.principal) };
    const decision = decide(plan, own);
    if (decision instanceof Promise || decision.verdict !== 'allowed') throw new Error('the caller is not allowed');
    return { run: () => decide(plan, own) };
  },
};
