import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import type { ModeName } from '../model/checks.ts';
import type { Decision } from '../model/requirement.ts';
import { ANONYMOUS, type Principal } from '../model/principal.ts';
import { createTrace } from '../model/trace.ts';
import { boundPage } from '../paging/bound-page.ts';
import { decideFromMemory } from './decide-permission.ts';
import { admitted } from './dispatch.ts';
import {
  describeBound,
  describeCredential,
  describeDecision,
  describePlan,
  describePrincipal,
  describeRefusal,
  describeRequirement,
  describeValues,
  line,
} from './explain-lines.ts';
import type { Exchange } from './exchange.ts';
import type { House } from './house.ts';
import { pageKey } from './page-key.ts';
import type { Plan } from './plan.ts';
import { permissionRefusal } from './stages/authorize.ts';
import type { UndocumentedVerdict } from './undocumented/policy.ts';
import { unsafeTargetReason } from './unsafe-path.ts';

/** A request that nobody makes, to see what would become of it. */
export interface ExplainRequest {
  readonly method: string;
  /** The request target: path and query. */
  readonly target: string;
  /** The account to decide for; undefined for an anonymous caller. */
  readonly as?: string | undefined;
}

/** What would become of a request, as printable lines: the same code as the live path, without the upstream. */
export function explain(
  house: House,
  rules: Parameters<typeof decideFromMemory>[0],
  mode: ModeName,
  request: ExplainRequest,
): readonly string[] {
  const arrival = arrivalOf(request);
  const principal = principalOf(request.as);
  const lines = [line('request', `${request.method} ${request.target}`), line('caller', describePrincipal(principal))];
  const unsafe = unsafeTargetReason(arrival.path, arrival.query);
  if (unsafe !== undefined) return [...lines, line('verdict', `400 unsafe_path: ${unsafe}`)];
  const target = house.targets.resolve(arrival);
  const { plan } = target;
  const credential = credentialProblem(house, plan, principal);
  if (plan === undefined) {
    const verdict = credential ?? describeUndocumented(target.verdict);
    return [...lines, line('mode', mode), line('operation', 'not in the contract'), line('verdict', verdict)];
  }
  lines.push(...describePlan(plan, mode), line('credential', describeCredential(plan, principal)));
  const { requestId, traceparent, method } = arrival;
  const trace = createTrace({ requestId, traceparent, method, startedAt: house.clock() });
  let exchange: Exchange;
  try {
    exchange = admitted(house, { arrival, principal, trace }, target);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const found = trace.violations.map(({ message }) => line('parameters', message));
    return [...lines, ...found, line('verdict', credential ?? describeRefusal(error))];
  }
  const decision = decideFromMemory(rules, plan, exchange);
  const { paging, requires } = plan.operation;
  const values = exchange.values();
  const { page, pageSize } = values;
  const bound = paging && boundPage({ paging, page, pageSize, learnedCount: undefined, options: plan });
  const key =
    plan.cache === undefined ? 'not kept' : JSON.stringify(pageKey(plan, exchange, house.contract.version).split('\n'));
  const verdict =
    credential ??
    permissionProblem(house, plan, exchange, decision) ??
    (bound?.ok === false && plan.checks.pageBounds === 'enforce' ? `400 ${bound.code}: ${bound.message}` : undefined);
  return [
    ...lines,
    line('parameters', describeValues(values)),
    ...trace.violations.map(({ message }) => line('reported', message)),
    line('rule', describeRequirement(requires)),
    line('permission', describeDecision(decision)),
    ...(bound === undefined ? [] : [line('page bounds', describeBound(bound))]),
    line('upstream', `${plan.operation.method} ${exchange.target}`),
    line('cache key', key),
    line('verdict', verdict ?? (plan.cache === undefined ? 'sent on' : 'answered from memory, else sent on')),
  ];
}

function arrivalOf({ method, target }: ExplainRequest): Arrival {
  const mark = target.indexOf('?');
  return {
    method: method.toUpperCase(),
    rawTarget: target,
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? undefined : target.slice(mark + 1),
    requestId: 'explain',
    traceparent: '',
  } as Arrival;
}

/** The account as it would be after its credential was verified, under the same audience. */
function principalOf(name: string | undefined): Principal {
  if (name === undefined) return ANONYMOUS;
  return { kind: 'verified', name, audience: `user:${name}`, authorization: 'Basic (of the caller)' };
}

function credentialProblem(house: House, plan: Plan | undefined, { kind }: Principal): string | undefined {
  if (kind !== 'anonymous' || (plan ?? house).checks.authentication !== 'enforce') return undefined;
  if (house.anonymous === 'allow' && plan?.operation.needsCredential !== true) return undefined;
  return '401 credentials_required: this request needs a credential';
}

function permissionProblem(house: House, plan: Plan, exchange: Exchange, decision: Decision): string | undefined {
  if (decision.verdict !== 'denied' || plan.checks.permissions !== 'enforce') return undefined;
  return describeRefusal(permissionRefusal(plan.operation, exchange, decision.missing, house.challenge));
}

function describeUndocumented(verdict: UndocumentedVerdict): string {
  if (!verdict.pass)
    return verdict.code === 'method_not_allowed'
      ? `405 ${verdict.code}, Allow: ${verdict.allow.join(', ')}`
      : `404 ${verdict.code}`;
  const needs = verdict.permission === undefined ? '' : `, needs "${verdict.permission}"`;
  return `passed on as it is${needs}${verdict.reported ? ', reported' : ''}`;
}
