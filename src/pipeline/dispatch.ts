import type { ParameterValues } from '../contract/parameter-values.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Ending } from '../lib/ending.ts';
import type { Arrival } from '../model/arrival.ts';
import type { CheckLevel } from '../model/checks.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import { admit } from './admit.ts';
import type { Exchange } from './exchange.ts';
import type { House } from './house.ts';
import { passUndocumented, undocumentedVerdict } from './judge-undocumented.ts';
import type { Plan } from './plan.ts';
import type { Reply } from './reply.ts';
import type { PassingVerdict } from './undocumented-policy.ts';
import { tellUnverified } from './upstream-violation.ts';

/** What becomes of an arrival: an answer of its plan, or a way past the contract that the policy allows. */
export type Dispatched =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly exchange: Exchange; readonly plan: Plan }
  | { readonly kind: 'passthrough'; readonly principal: Principal; readonly verdict: PassingVerdict };

/** Takes a request from arrival to its answer; throws GatewayError for every refusal. */
export async function dispatch(
  house: House,
  arrival: Arrival,
  trace: Trace,
  clientGone?: () => Ending,
): Promise<Dispatched> {
  const match = house.contract.match(arrival.path);
  const operation = match?.byMethod.get(arrival.method === 'HEAD' ? 'GET' : arrival.method);
  const plan = operation === undefined ? undefined : house.plans.get(operation.id);
  if (plan !== undefined) trace.operation = plan.operation.id;
  const principal = await authenticate(house, arrival, trace, plan);
  if (plan === undefined || match === undefined) {
    const verdict = undocumentedVerdict(house, arrival, match);
    return { kind: 'passthrough', principal, verdict: passUndocumented(house, arrival, trace, principal, verdict) };
  }
  house.candidate?.arrived(trace, arrival);
  const admission = admit(plan, house.contract, match, arrival, trace);
  const exchange = toExchange(house, plan, { arrival, principal, ...admission, trace, clientGone });
  try {
    return { kind: 'reply', plan, exchange, reply: await plan.handle(exchange) };
  } finally {
    if (plan.transparent) judgeCredentialByAnswer(trace);
  }
}

/** In `observe` nobody is asked about a credential; the upstream's own answer says whether it would have been refused. */
export function judgeCredentialByAnswer(trace: Trace): void {
  const { authentication, upstream } = trace;
  if (authentication?.reason !== 'verification_pending') return;
  const refused = upstream?.status === 401 && upstream.denied !== true;
  const reason = upstream?.status === undefined ? 'no answer' : 'judged by the answer';
  trace.authentication = { ...authentication, outcome: refused ? 'reported' : 'skipped', reason };
}

/** Decodes the parameters of a request that was found without a fault before. */
export function valuesOf(
  contract: Pick<House['contract'], 'match' | 'decodeParameters'>,
  { operation }: Plan,
  { path, query }: Pick<Arrival, 'path' | 'query'>,
): ParameterValues {
  const match = contract.match(path);
  if (match === undefined) throw new Error(`${operation.id} no longer has this path`);
  return contract.decodeParameters(operation, match, query).values;
}

/** Completes an exchange with what the roles file says of the principal. */
export function toExchange(
  house: House,
  plan: Plan,
  parts: Pick<Exchange, 'arrival' | 'principal' | 'values' | 'asked' | 'target' | 'trace' | 'clientGone'>,
): Exchange {
  const grants = house.grantsOf(parts.principal, plan.checks.permissions);
  const { arrival, principal, values, asked, target, trace, clientGone } = parts;
  const audience = house.audienceOf(plan, principal, grants);
  // Written out, because one is made for every request.
  return {
    arrival,
    principal,
    grants,
    audience,
    values,
    asked,
    target,
    delegated: grants.delegated,
    clientGone,
    trace,
  };
}

async function authenticate(
  house: House,
  { headers, clientAddress }: Arrival,
  trace: Trace,
  plan: Plan | undefined,
): Promise<Principal> {
  const level: CheckLevel = (plan ?? house).checks.authentication;
  // On documented operations no token or cookie travels upstream, except where everything does.
  const token =
    plan?.transparent === false ? undefined : [headers['x-auth-token'], headers.cookie].flat().join('\n').trim();
  try {
    const result = await house.authenticator.authenticate({
      authorizationHeader: headers.authorization,
      otherCredential: token === '' ? undefined : token,
      clientAddress,
      level,
      needsCredential: plan?.operation.needsCredential ?? false,
      mustKnow: (plan ?? house).checks.permissions === 'enforce',
      now: house.clock(),
    });
    trace.authentication = result.trace;
    if (result.principal.name !== undefined) trace.caller = result.principal.name;
    return result.principal;
  } catch (error) {
    const reason = error instanceof GatewayError ? { reason: error.code } : {};
    trace.authentication = { level, outcome: 'refused', principal: 'none', ...reason };
    if (error instanceof GatewayError && error.code === 'verification_unavailable') tellUnverified(trace, error.cause);
    throw error;
  }
}
