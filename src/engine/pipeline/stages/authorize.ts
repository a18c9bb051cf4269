import type { FindOwner } from '../../contract/api-profile.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { undecidedRefusal } from '../../identity/refusals.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../../lib/bounded-json.ts';
import type { CheckLevel } from '../../model/checks.ts';
import { type Operation, PERMISSION_DENIED, type Decision, type Requirement } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import { ERROR_INSIDE, type Trace } from '../../model/trace.ts';
import type { Violation } from '../../model/violation.ts';
import type { Permissions } from '../../permissions/compile-permissions.ts';
import { decide, type Grants } from '../../permissions/decide.ts';
import type { FetchJson, Ownership, OwnershipState } from '../../permissions/ownership.ts';
import type { Upstream } from '../../upstream/create-upstream.ts';
import type { Sessions } from '../../upstream/sessions.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import { documentedText } from '../request-refusal.ts';
import type { StagePlanner, PlannedOperation } from '../stage.ts';

/**
 * Refuses callers who lack the permissions that the contract requires, and compares the gateway's verdict with the
 * upstream's.
 */
export function authorize(decideOn: Decide, challenge: string): StagePlanner {
  return {
    name: 'authorize',
    check: 'permissions',
    plan(planned) {
      const { operation, checks } = planned;
      const level = checks.permissions;
      // Operations without requirements also need this stage, because it may have to deny callers without an account.
      if (level === 'off') return undefined;
      return (next) => {
        const proceed = (exchange: Exchange, decision: Decision): Reply | Promise<Reply> => {
          // In transparent mode, the decision is based on the name in the credential. Only the response can confirm
          // this name.
          const isClaim = planned.transparent && level !== 'enforce' && isAwaitingResponse(exchange.trace);
          traceDecision(exchange.trace, level, isClaim ? UNKNOWN_CALLER : decision);
          if (decision.verdict === 'denied' && level === 'enforce')
            throw permissionRefusal(operation, exchange, decision.missing, challenge);
          const delegated = decision.verdict === 'delegated' || exchange.delegated;
          const reply = next(delegated === exchange.delegated ? exchange : { ...exchange, delegated });
          // A synchronous reply comes from the cache, so there is no upstream verdict to compare with the decision.
          if (!(reply instanceof Promise)) return reply;
          return compared(operation, exchange, decision, isClaim ? judgedBy(exchange, level, decision, reply) : reply);
        };
        return (exchange) => {
          const decision = decideOn(planned, exchange);
          return decision instanceof Promise
            ? decision.then((made) => proceed(exchange, made))
            : proceed(exchange, decision);
        };
      };
    },
  };
}

const UNKNOWN_CALLER: Decision = { verdict: 'delegated', because: 'unmapped' };

/** Records the decision about a caller once the response has shown that the credential is valid. */
async function judgedBy(
  { trace }: Exchange,
  level: CheckLevel,
  decision: Decision,
  pending: Promise<Reply>,
): Promise<Reply> {
  const reply = await pending;
  if (hasAcceptedCredential(trace)) traceDecision(trace, level, decision);
  return reply;
}

async function compared(
  operation: Operation,
  exchange: Exchange,
  decision: Decision,
  pending: Promise<Reply>,
): Promise<Reply> {
  try {
    const reply = await pending;
    compare(operation, exchange, decision, reply.status);
    return reply;
  } catch (error) {
    if (error instanceof GatewayError) compare(operation, exchange, decision, error.status);
    throw error;
  }
}

/**
 * Records a mismatch between the gateway's verdict and the upstream's. A mismatch means that the roles file is wrong
 * (docs/rules.md §3).
 */
function compare({ mayBePrivate }: Operation, { trace }: Exchange, decision: Decision, status: number): void {
  if (trace.upstream === undefined || decision.verdict === 'delegated') return;
  const upstreamDenied = trace.upstream.denied === true;
  const gatewayDenied = decision.verdict === 'denied';
  const isError = status >= 400 || trace.upstream.shape === ERROR_INSIDE;
  if (upstreamDenied === gatewayDenied || (!upstreamDenied && isError)) return;
  // The upstream may hide a private comment even from callers who have every permission.
  if (upstreamDenied && mayBePrivate) return;
  trace.violations.push(permissionMismatch(upstreamDenied));
}

/** Returns the violation for a mismatch between the gateway's verdict and the upstream's. */
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

/** The refusal message for each unmet requirement that is not a permission. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  'ownership of the node': 'Only the author of the node may do this.',
  'an account in the roles file': 'Your account has no role here.',
  "the account's own spelling of the name":
    'Your user name is another spelling of the name of an account here. Log in with the spelling of the account.',
};

/** The facts about a refused caller that determine which error is returned. */
interface Refused {
  readonly principal: Principal;
  readonly trace: Pick<Trace, 'authentication'>;
}

/**
 * Returns the error for a refused caller: 403 for a verified caller, 401 if a credential could help, and 429 or 503 if
 * the credential could not be verified (docs/rules.md §2).
 */
export function permissionRefusal(
  operation: Operation | undefined,
  { principal, trace }: Refused,
  missing: readonly string[],
  challenge: string,
): GatewayError {
  const undecided = principal.kind === 'unverified' ? undecidedRefusal(trace.authentication?.reason) : undefined;
  if (undecided !== undefined) return undecided;
  const ways = operation?.requires === undefined ? [] : waysToMeet(operation.requires, missing);
  const needed = ways.join(' or ');
  // The configuration can name only permissions, and the other requirements are not names.
  const kinds = operation?.requires === undefined ? undefined : kindsIn(operation.requires);
  const details = missing.map((name) => {
    const kind = Object.hasOwn(PLAIN_WORDS, name) ? undefined : (kinds?.get(name) ?? 'permission');
    return {
      ...(kind !== undefined && { [kind]: name }),
      message: `${ways.length > 1 ? needed : name} is required`,
    };
  });
  if (principal.kind !== 'verified')
    return new GatewayError('credentials_required', 'A credential with the required permission is needed.', {
      details,
      headers: { 'WWW-Authenticate': challenge },
    });
  const [first = ''] = missing;
  const own = PLAIN_WORDS[first] ?? `You need ${needed || `the permission "${first}"`} to do this.`;
  const text = operation === undefined ? own : documentedText(operation, 403, { keyword: PERMISSION_DENIED }, own);
  return new GatewayError('permission_denied', text, { details });
}

type TermKind = 'permission' | 'group' | 'flag';

/** Returns the kind of each term in a requirement, keyed by the term's name. */
function kindsIn(requirement: Requirement): ReadonlyMap<string, TermKind> {
  if ('any' in requirement) return new Map(requirement.any.flatMap((one) => [...kindsIn(one)]));
  if ('all' in requirement) return new Map(requirement.all.flatMap((one) => [...kindsIn(one)]));
  if ('own' in requirement) return kindsIn(requirement.own);
  return new Map((Object.entries(requirement) as [TermKind, string][]).map(([kind, name]) => [name, kind]));
}

/** Describes the alternatives of an unmet requirement, each with only the terms that the caller lacks. */
function waysToMeet(requirement: Requirement, missing: readonly string[]): string[] {
  if ('any' in requirement) return requirement.any.flatMap((one) => waysToMeet(one, missing));
  if ('all' in requirement) {
    const parts = requirement.all.map((one) => waysToMeet(one, missing).join(' or ')).filter((part) => part !== '');
    return parts.length === 0 ? [] : [parts.join(' and ')];
  }
  if ('own' in requirement) return waysToMeet(requirement.own, missing);
  const [[kind, name] = ['', '']] = Object.entries(requirement);
  return missing.includes(name) ? [`the ${kind} "${name}"`] : [];
}

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

/**
 * Creates the function that looks up the resources on which decisions depend. If a lookup fails, the decision is made
 * without its result.
 */
export function createLookup(upstream: Upstream, sessions: Sessions): FetchJson {
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
        session: sessions.of(authorization),
        mode: 'buffered',
      });
      if (response.status !== 200 || !Buffer.isBuffer(response.body)) return undefined;
      return parsedValue(parseBounded(response.body, DEFAULT_JSON_LIMITS));
    } catch {
      return undefined;
    }
  };
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
    category: 'permission',
    location: 'header',
    at: missing,
    keyword: PERMISSION_DENIED,
    schemaPath: '',
    message: 'The roles file denies this request.',
  };
}
