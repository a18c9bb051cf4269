import { audienceOf } from '../cache/stored-page.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Cancellation, Arrival } from '../model/arrival.ts';
import { canonicalName } from '../model/caller-name.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import type { AuthenticationInput, AuthenticationResult } from '../identity/create-authenticator.ts';
import type { Exchange, KnownRequest } from './exchange.ts';
import type { CompiledGateway, SecondSide } from './compiled-gateway.ts';
import type { Plan } from './plan.ts';
import type { Reply } from './reply.ts';
import { hasAcceptedCredential, isAwaitingResponse } from './permission-verdict.ts';
import type { OperationTarget, Target } from './targets.ts';
import type { UndocumentedPlan } from './undocumented/plan.ts';
import { admitUndocumented, nameExistingPath } from './undocumented/admit.ts';
import { recordUnverified } from './upstream-incident.ts';

/** The result of dispatching a request. */
export interface Dispatched {
  readonly plan: Plan | UndocumentedPlan;
  readonly reply: Reply;
  /** The request and its decoded parameters. Undefined for an undocumented path. */
  readonly exchange?: Exchange;
}

/**
 * Processes a request and returns the reply from its plan. Returns synchronously if there is nothing to wait for.
 * Throws or rejects with a `GatewayError` if the request is refused. The public server, `portico check` and `portico
 * learn` all use this function.
 */
export function dispatch(
  gateway: CompiledGateway,
  arrival: Arrival,
  trace: Trace,
  clientGone?: () => Cancellation,
): Dispatched | Promise<Dispatched> {
  const { second } = gateway;
  return second === undefined
    ? dispatchTo(gateway, arrival, trace, clientGone)
    : dispatchToSide(gateway, second, arrival, trace, clientGone);
}

/** Passes a request to the gateway in front of the upstream that serves it. */
function dispatchToSide(
  gateway: CompiledGateway,
  second: SecondSide,
  arrival: Arrival,
  trace: Trace,
  clientGone?: () => Cancellation,
): Dispatched | Promise<Dispatched> {
  const target = gateway.targets.resolve(arrival);
  const { plan } = target;
  if (plan !== undefined) trace.operation = plan.operation.id;
  const proceed = (name: string | undefined) => {
    const isSecond = second.usesSecond({ arrival, operation: plan?.operation, name });
    trace.side = isSecond ? second.sides.second : second.sides.first;
    return isSecond
      ? dispatchTo(second.gateway, arrival, trace, clientGone)
      : dispatchTo(gateway, arrival, trace, clientGone, target);
  };
  const claimed = second.claimedName(arrival.authorization);
  if (claimed !== 'later') return proceed(claimed.name);
  // Verifiers of features do not ask an upstream, so both gateways come to the same result.
  const principal = authenticate(gateway, arrival, trace, plan);
  return principal instanceof Promise ? principal.then(({ name }) => proceed(name)) : proceed(principal.name);
}

function dispatchTo(
  gateway: CompiledGateway,
  arrival: Arrival,
  trace: Trace,
  clientGone?: () => Cancellation,
  target: Target = gateway.targets.resolve(arrival),
): Dispatched | Promise<Dispatched> {
  if (target.plan !== undefined) trace.operation = target.plan.operation.id;
  const principal = authenticate(gateway, arrival, trace, target.plan);
  const proceed = (known: Principal) => handleTarget(gateway, { arrival, principal: known, trace, clientGone }, target);
  return principal instanceof Promise ? principal.then(proceed) : proceed(principal);
}

function handleTarget(
  gateway: CompiledGateway,
  request: KnownRequest,
  target: Target,
): Dispatched | Promise<Dispatched> {
  const { arrival, trace } = request;
  if (target.plan === undefined) {
    const plan = gateway.undocumented;
    const { permission, reported } = admitUndocumented(gateway, request, target.verdict);
    if (!reported) gateway.targets.remember(arrival, target);
    return runPlan(
      plan,
      trace,
      () => plan.handle({ ...request, permission }),
      (reply) => {
        if (reported && reply.status >= 200 && reply.status < 300) nameExistingPath(gateway, request);
        return { plan, reply };
      },
    );
  }
  const { plan } = target;
  gateway.observeRequest?.(trace, arrival);
  const exchange = admitted(gateway, request, target);
  return runPlan(
    plan,
    trace,
    () => plan.handle(exchange),
    (reply) => {
      if (isWorthRemembering(plan, reply)) gateway.targets.remember(arrival, target);
      return { plan, exchange, reply };
    },
  );
}

/**
 * Runs a plan. In transparent mode, also records whether the upstream's response shows that the credential is valid.
 */
function runPlan(
  { transparent }: Plan | UndocumentedPlan,
  trace: Trace,
  handle: () => Reply | Promise<Reply>,
  finish: (reply: Reply) => Dispatched,
): Dispatched | Promise<Dispatched> {
  const replied = (reply: Reply): Dispatched => {
    if (transparent) checkCredentialByResponse(trace);
    return finish(reply);
  };
  const failed = (error: unknown): never => {
    if (transparent) checkCredentialByResponse(trace);
    throw error;
  };
  try {
    const reply = handle();
    return reply instanceof Promise ? reply.then(replied, failed) : replied(reply);
  } catch (error) {
    return failed(error);
  }
}

/** Checks the parameters and returns the exchange for the stages to process. Throws if the parameters are refused. */
export function admitted(gateway: CompiledGateway, request: KnownRequest, { plan, admit }: OperationTarget): Exchange {
  const { arrival, principal, trace, clientGone } = request;
  const { values, requestedPage, target, keys, verdict, violations, refusal, failure } = admit();
  trace.requests = verdict;
  if (failure !== undefined) trace.cause ??= failure;
  if (violations.length > 0) trace.violations.push(...violations);
  if (refusal !== undefined) throw refusal;
  const level = plan.checks.permissions;
  // In transparent mode, only the upstream's response shows whether the credential is valid.
  const isClaim = plan.transparent && level !== 'enforce' && isAwaitingResponse(trace);
  const grants = gateway.grantsOf(isClaim ? { ...principal, kind: 'verified' } : principal, level);
  const { delegated } = grants;
  const setting = delegated ? 'caller' : (plan.cache?.audience ?? 'caller');
  const audience = audienceOf(setting, principal, grants.key, gateway.guard.isDemoted(plan.operation.id));
  return { arrival, principal, grants, audience, keys, values, requestedPage, target, delegated, clientGone, trace };
}

/**
 * Returns whether to remember how a target was interpreted. The target of a cacheable page is remembered only after the
 * page has been found in the cache, so that targets requested only once cannot fill the cache of targets.
 */
function isWorthRemembering({ cache }: Plan, { storedAs, facts }: Reply): boolean {
  return storedAs !== undefined || (cache === undefined && facts?.validity === 'valid');
}

/**
 * Records whether the upstream accepted the credential. In `observe` mode, credentials are not verified in advance, so
 * this record shows whether Portico would have refused them.
 */
export function checkCredentialByResponse(trace: Trace): void {
  const { authentication, upstream } = trace;
  if (authentication === undefined || !isAwaitingResponse(trace)) return;
  const refused = upstream?.status !== undefined && !hasAcceptedCredential(trace);
  const reason = upstream?.status === undefined ? 'no response' : 'decided by the response';
  trace.authentication = { ...authentication, outcome: refused ? 'reported' : 'skipped', reason };
}

function authenticate(
  gateway: CompiledGateway,
  arrival: Arrival,
  trace: Trace,
  plan: Plan | undefined,
): Principal | Promise<Principal> {
  const { checks } = plan ?? gateway;
  return authenticateAt(gateway, arrival, trace, {
    level: checks.authentication,
    // For documented operations, tokens and cookies are sent upstream only in transparent mode.
    otherCredential: plan?.transparent === false ? undefined : arrival.otherCredential,
    needsCredential: plan?.operation.needsCredential ?? false,
    needsVerification: checks.permissions === 'enforce',
    now: arrival.receivedAt,
  });
}

/** How strictly the caller of a request is authenticated, and when. */
type Strictness = Pick<
  AuthenticationInput,
  'level' | 'needsCredential' | 'needsVerification' | 'now' | 'otherCredential'
>;

/**
 * Determines the caller of a request, and records it in the trace. Throws or rejects with a `GatewayError` if the caller
 * is refused.
 */
export function authenticateAt(
  gateway: Pick<CompiledGateway, 'authenticator'>,
  arrival: Arrival,
  trace: Trace,
  strictness: Strictness,
): Principal | Promise<Principal> {
  const { authorization } = arrival;
  const passed = ({ principal, trace: found }: AuthenticationResult): Principal => {
    trace.authentication = found;
    if (principal.name !== undefined) trace.caller = canonicalName(principal.name);
    return principal;
  };
  const failed = (error: unknown): never => {
    const reason = error instanceof GatewayError ? { reason: error.code } : {};
    // If the upstream failed before the credential could be verified, there is no verdict on the caller.
    const isUndecided = error instanceof GatewayError && error.code === 'verification_unavailable';
    const outcome = isUndecided ? 'failed' : 'refused';
    trace.authentication = { level: strictness.level, outcome, principal: 'none', ...reason };
    if (isUndecided) recordUnverified(trace, error.cause);
    throw error;
  };
  try {
    const result = gateway.authenticator.authenticate({
      ...strictness,
      authorizationHeader: authorization,
      clientAddress: () => arrival.clientAddress,
      connection: arrival.connection,
    });
    return result instanceof Promise ? result.then(passed, failed) : passed(result);
  } catch (error) {
    return failed(error);
  }
}
