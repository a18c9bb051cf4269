import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../lib/bounded-json.ts';
import { valueAt } from '../lib/json-pointer.ts';
import type { CheckLevel } from '../model/checks.ts';
import { type Operation, PERMISSION_DENIED } from '../model/operation.ts';
import type { Principal } from '../model/principal.ts';
import type { Decision } from '../model/requirement.ts';
import type { Trace } from '../model/trace.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import type { Violation } from '../model/violation.ts';
import type { Permissions } from '../permissions/compile-permissions.ts';
import { decide, type Grants } from '../permissions/decide.ts';
import { type Ownership, ownershipOf } from '../permissions/ownership.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import { readError } from '../upstream/translate-failure.ts';
import { type PermissionMessage, plainText } from '../upstream/permission-message.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** Decides whether a caller may use an operation. */
export type Decide = (planned: PlannedOperation, exchange: Exchange) => Decision | Promise<Decision>;

/** Services for permission decisions. */
interface DecideServices {
  readonly permissions: Permissions;
  readonly ownership: Ownership;
  readonly lookUp: Lookup;
  /** The operations that the configuration disables, each with the key that disables it. */
  readonly disabledOperations: ReadonlyMap<string, string>;
}

/**
 * Creates the function that decides whether the caller may use an operation. The function looks up the author only if
 * that could change the verdict. If the caller's permissions are unknown, the upstream decides based on the caller's
 * own credential, but callers without a credential are denied.
 */
export function createDecide({ permissions, ownership, lookUp, disabledOperations }: DecideServices): Decide {
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
    // A lookup is needed only if the check is enforced, because no other check can refuse the request.
    const pending = enforced
      ? ownerOf(exchange, ownership, lookUp)
      : Promise.resolve(rememberedState(exchange, ownership));
    return pending.then((state) => {
      const decision = decide(requirement, exchange.grants, state);
      const isUndecided = decision.verdict === 'delegated' && exchange.principal.authorization === undefined;
      return isUndecided ? decide(requirement, exchange.grants, 'other') : decision;
    });
  };
}

/**
 * Creates a function that makes the decisions that do not involve a node. Such a decision depends only on the
 * requirement and the grants, neither of which changes. Callers with the same permissions share one set of grants, so
 * each decision is made only once.
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

/** Makes the decision without a lookup, using only what the gateway remembers. */
export function decideFromMemory(
  { permissions, ownership, disabledOperations }: Omit<DecideServices, 'lookUp'>,
  { operation }: PlannedOperation,
  exchange: Exchange,
): Decision {
  const switchKey = disabledOperations.get(operation.id);
  if (switchKey !== undefined) return { verdict: 'denied', missing: [switchKey] };
  const requirement = permissions.requirementOf(operation.id);
  const first = decide(requirement, exchange.grants, 'not-checked');
  const needsOwner = first.verdict === 'delegated' && first.because === 'ownership';
  return needsOwner ? decide(requirement, exchange.grants, rememberedState(exchange, ownership)) : first;
}

type OwnershipState = ReturnType<typeof ownershipOf>;

async function ownerOf({ principal, values }: Exchange, ownership: Ownership, lookUp: Lookup): Promise<OwnershipState> {
  const { nodeId, commentId } = values().path;
  if (commentId === undefined) return nodeId === undefined ? 'unknown' : ownership.of(principal, nodeId);
  const comment = await lookUp(`/services/v2/comment/${commentId}.json`, principal);
  // A community wiki can be edited by users other than its author (rules, 3).
  if (valueAt(comment, '/wiki') === true) return 'own';
  const author = valueAt(comment, '/author/username');
  return ownershipOf(principal, typeof author === 'string' ? author : undefined);
}

function rememberedState({ principal, values }: Exchange, ownership: Ownership): OwnershipState {
  const { nodeId, commentId = '' } = values().path;
  return ownershipOf(principal, ownership.authorOf(nodeId ?? commentId));
}

/** Records a decision in the trace, unless the decision is delegated to the upstream. */
export function traceDecision(
  trace: Pick<Trace, 'permissions' | 'violations'>,
  level: CheckLevel,
  decision: Decision,
): void {
  trace.permissions = verdictOf(level, decision);
  if (decision.verdict === 'denied')
    trace.violations.push(denied(decision.alternatives?.join(' or ') ?? decision.missing[0] ?? ''));
}

/**
 * Returns whether the credential's validity can be determined only from the upstream's response, as in `observe` mode.
 */
export function isAwaitingResponse({ authentication }: Pick<Trace, 'authentication'>): boolean {
  return authentication?.reason === 'verification_pending';
}

/**
 * Returns whether the upstream responded and did not refuse the credential. The upstream may still have denied a
 * permission.
 */
export function hasAcceptedCredential({ upstream }: Pick<Trace, 'upstream'>): boolean {
  return upstream?.status !== undefined && (upstream.status !== 401 || upstream.denied === true);
}

function verdictOf(level: CheckLevel, decision: Decision): NonNullable<Trace['permissions']> {
  if (decision.verdict === 'allowed') return { level, outcome: 'passed', decision };
  if (decision.verdict === 'denied') return { level, outcome: level === 'enforce' ? 'refused' : 'reported', decision };
  return { level, outcome: 'skipped', reason: `delegated: ${decision.because}`, decision };
}

/**
 * Returns the violation for a missing permission. The names in `missing` come from the contract or the configuration,
 * so callers cannot influence the text.
 */
function denied(missing: string): Violation {
  return {
    check: 'permissions',
    direction: 'request',
    category: 'semantic',
    location: 'header',
    at: missing,
    keyword: PERMISSION_DENIED,
    schemaPath: '',
    message: 'The roles file denies this request.',
  };
}

/**
 * Returns the violation to record when the gateway and the upstream disagree about a caller. The violation tells an
 * administrator that the roles file is wrong (rules, 3).
 */
export function permissionMismatch(upstreamDenied: boolean): Violation {
  return {
    check: 'permissions',
    direction: 'response',
    category: 'permission-mismatch',
    location: 'status',
    at: '',
    keyword: upstreamDenied ? 'upstream-denied' : 'upstream-allowed',
    schemaPath: '',
    message: upstreamDenied
      ? 'The roles file allows this request, but the upstream denies it.'
      : 'The roles file denies this request, but the upstream allows it.',
  };
}

/**
 * Returns whether a response reports a missing permission in any of the forms that the upstream uses. A denial that the
 * contract also documents for other causes does not count, because it says nothing about the caller's permissions.
 */
export function isPermissionDenial(
  operation: Operation,
  response: UpstreamResponse,
  isMessage: PermissionMessage,
): boolean {
  if (response.status !== 401 && response.status !== 403) return false;
  const { message, otherMessage, isJson } = readError(response);
  const messages = [message, otherMessage].filter((text) => text !== undefined);
  const ambiguous = operation.documentedErrors.find(
    ({ status, causes }) => status === 403 && causes?.some((cause) => cause !== PERMISSION_DENIED) === true,
  );
  if (ambiguous === undefined && response.status === 403 && isJson) return true;
  if (ambiguous !== undefined && messages.some((text) => plainText(text) === plainText(ambiguous.text))) return false;
  return messages.some((text) => isMessage(text, operation.documentedErrors));
}

/**
 * Reads a small resource from the upstream with the caller's own credential. Returns undefined if the resource is not
 * available.
 */
export type Lookup = (target: string, principal: Principal) => Promise<unknown>;

/**
 * Creates the function that looks up resources for decisions. If a lookup fails, the decision is made without its
 * result.
 */
export function createLookup(upstream: Upstream): Lookup {
  return async (target, { authorization }) => {
    try {
      const response = await upstream.exchange({
        method: 'GET',
        target,
        headers: [
          ['Accept', 'application/json'],
          ['Content-Type', 'application/json'],
          ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
        ],
        mode: 'buffered',
      });
      if (response.status !== 200 || !Buffer.isBuffer(response.body)) return undefined;
      return parsedValue(parseBounded(response.body, DEFAULT_JSON_LIMITS));
    } catch {
      return undefined;
    }
  };
}
