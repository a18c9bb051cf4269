import type { FindOwner } from '../contract/api-profile.ts';
import type { Decision } from '../model/operation.ts';
import type { Permissions } from '../permissions/compile-permissions.ts';
import { decide, type Grants } from '../permissions/decide.ts';
import type { FetchJson, Ownership, OwnershipState } from '../permissions/ownership.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';

/** Decides whether a caller may use an operation. */
export type Decide = (planned: PlannedOperation, exchange: Exchange) => Decision | Promise<Decision>;

/** The services used for permission decisions. */
interface DecideServices {
  readonly permissions: Permissions;
  readonly ownership: Ownership;
  readonly findOwner: FindOwner;
  readonly lookUp: FetchJson;
  /** The operations disabled in the configuration, each with the key that disables it. */
  readonly disabledOperations: ReadonlyMap<string, string>;
}

/**
 * Creates the function that decides whether the caller may use an operation. The function looks up the author only if
 * that could change the verdict. If the caller's permissions are unknown, the decision is left to the upstream, based
 * on the caller's own credential. Callers without a credential are denied.
 */
export function createDecide(services: DecideServices): Decide {
  const { permissions, lookUp, disabledOperations } = services;
  const decideNow = createDecisions(permissions);
  return ({ operation, checks }, exchange): Decision | Promise<Decision> => {
    const switchKey = disabledOperations.get(operation.id);
    if (switchKey !== undefined) return { verdict: 'denied', missing: [switchKey] };
    const first = decideNow(operation.id, exchange.grants);
    if (first.verdict !== 'delegated' || first.because !== 'ownership') return first;
    const requirement = permissions.requirementOf(operation.id);
    const enforced = checks.permissions === 'enforce';
    // An unverified credential does not prove ownership, so the author is not looked up.
    if (enforced && exchange.principal.kind !== 'verified') return decide(requirement, exchange.grants, 'other');
    // A lookup is needed only if the check is enforced. At other levels, the request cannot be refused.
    const pending = enforced ? ownerOf(exchange, services, lookUp) : rememberedState(exchange, services);
    return pending.then((state) => {
      const decision = decide(requirement, exchange.grants, state);
      const isUndecided = decision.verdict === 'delegated' && exchange.principal.authorization === undefined;
      return isUndecided ? decide(requirement, exchange.grants, 'other') : decision;
    });
  };
}

/**
 * Creates a function that makes decisions that do not involve a node. They depend only on the requirement and the
 * grants, neither of which changes. Callers with the same permissions share one set of grants, so each decision is made
 * only once.
 */
function createDecisions(permissions: Permissions): (operationId: string, grants: Grants) => Decision {
  const decisions = new Map<string, WeakMap<Grants, Decision>>();
  return (operationId, grants) => {
    const known = decisions.get(operationId)?.get(grants);
    if (known !== undefined) return known;
    const decision = decide(permissions.requirementOf(operationId), grants, 'not-checked');
    const ofOperation = decisions.get(operationId) ?? new WeakMap<Grants, Decision>();
    decisions.set(operationId, ofOperation.set(grants, decision));
    return decision;
  };
}

async function ownerOf(
  { principal, values }: Exchange,
  { ownership, findOwner }: Pick<DecideServices, 'ownership' | 'findOwner'>,
  lookUp: FetchJson,
): Promise<OwnershipState> {
  const owner = await findOwner(values().path, (target) => lookUp(target, principal));
  if (owner.kind === 'everybody') return 'own';
  if (owner.kind === 'author of') return ownership.of(principal, owner.id);
  return ownership.compare(principal, owner.kind === 'author' ? owner.name : undefined);
}

async function rememberedState(
  { principal, values }: Exchange,
  { ownership, findOwner }: Pick<DecideServices, 'ownership' | 'findOwner'>,
): Promise<OwnershipState> {
  const owner = await findOwner(values().path, undefined);
  return ownership.compare(principal, owner.kind === 'author of' ? ownership.authorOf(owner.id) : undefined);
}
