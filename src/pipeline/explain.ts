import type { ParameterValues } from '../contract/values.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import { CHECK_NAMES, type ModeName } from '../model/checks.ts';
import { ANONYMOUS, type Principal, verifiedAudience } from '../model/principal.ts';
import type { Decision, Requirement } from '../model/requirement.ts';
import { createTrace } from '../model/trace.ts';
import { boundPage, type BoundPage } from '../paging/page-counts.ts';
import { credentialEntry, grantEntry, pageEntry, parameterEntry, undocumentedEntry } from './allowing-entry.ts';
import type { CompiledGateway } from './compiled-gateway.ts';
import { decideFromMemory } from './decide-permission.ts';
import { admitted } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import type { Plan } from './plan.ts';
import { permissionRefusal } from './stages/authorize.ts';
import { pageKey } from './stored-reply.ts';
import type { UndocumentedVerdict } from './undocumented/verdict.ts';
import { unsafeTargetReason } from './targets.ts';

/** A hypothetical request to explain. */
export interface ExplainRequest {
  readonly method: string;
  /** The request target: path and query. */
  readonly target: string;
  /** The name of the caller's account. Undefined for an anonymous caller. */
  readonly as?: string | undefined;
}

/** One step of an explanation: its name, such as `verdict`, and its description. */
export interface ExplainStep {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the steps that explain how a request would be handled. Uses the same code as real requests, but does not
 * contact the upstream.
 */
export function explain(
  gateway: CompiledGateway,
  rules: Parameters<typeof decideFromMemory>[0],
  mode: ModeName,
  request: ExplainRequest,
): readonly ExplainStep[] {
  const arrival = arrivalOf(request);
  const principal = principalOf(request.as);
  const steps = [step('request', `${request.method} ${request.target}`), step('caller', describePrincipal(principal))];
  const unsafe = unsafeTargetReason(arrival.path, arrival.query);
  if (unsafe !== undefined) return [...steps, step('verdict', `400 unsafe_path: ${unsafe}`)];
  const target = gateway.targets.resolve(arrival);
  const { plan } = target;
  const credential = credentialProblem(gateway, plan, principal);
  if (plan === undefined) {
    const { verdict } = target;
    const entry =
      credential === undefined
        ? verdict.pass
          ? undefined
          : undocumentedEntry(gateway, arrival, verdict)
        : credentialEntry({ needsCredential: false });
    return [
      ...steps,
      step('mode', mode),
      step('operation', 'not in the contract'),
      step('verdict', credential ?? describeUndocumented(verdict)),
      ...allowed(entry),
    ];
  }
  steps.push(...describePlan(plan, mode), step('credential', describeCredential(plan, principal)));
  const { requestId, traceparent, method } = arrival;
  const trace = createTrace({ requestId, traceparent, method, startedAt: gateway.clock() });
  let exchange: Exchange;
  try {
    exchange = admitted(gateway, { arrival, principal, trace }, target);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const found = trace.violations.map(({ message }) => step('parameters', message));
    const entry =
      credential === undefined ? parameterEntry(plan.operation, trace.violations) : credentialEntry(plan.operation);
    return [...steps, ...found, step('verdict', credential ?? describeRefusal(error)), ...allowed(entry)];
  }
  const decision = decideFromMemory(rules, plan, exchange);
  const { paging, requires } = plan.operation;
  const values = exchange.values();
  const { page, pageSize } = values;
  const bound = paging && boundPage({ paging, page, pageSize, learnedCount: undefined, options: plan });
  const key = plan.cache === undefined ? 'not stored' : JSON.stringify(pageKey(plan, exchange).split('\n'));
  const { operation, stages } = plan;
  const denial = permissionProblem(gateway, plan, exchange, decision);
  const pageProblem =
    bound?.ok === false && plan.checks.pageBounds === 'enforce' ? `400 ${bound.code}: ${bound.message}` : undefined;
  const disabled = stages.includes('refuse-disabled') ? '503 operation_disabled: see override' : undefined;
  const verdict = credential ?? disabled ?? denial ?? pageProblem;
  const entryOf = (): string | undefined => {
    if (credential !== undefined) return credentialEntry(operation);
    if (disabled !== undefined) return `portico override end ${operation.id} disable`;
    if (denial !== undefined && decision.verdict === 'denied')
      return grantEntry(operation, principal, exchange.grants, decision, rules.disabledOperations.get(operation.id));
    return pageProblem === undefined ? undefined : pageEntry(operation, { pageSize, maxPageSize: plan.maxPageSize });
  };
  return [
    ...steps,
    step('parameters', describeValues(values)),
    ...trace.violations.map(({ message }) => step('reported', message)),
    ...limitSteps(gateway, plan, exchange.grants.roles),
    step('rule', describeRequirement(requires)),
    step('permission', describeDecision(decision)),
    ...(bound === undefined ? [] : [step('page bounds', describeBound(bound))]),
    step('upstream', `${plan.operation.method} ${exchange.target}`),
    step('cache key', key),
    step(
      'verdict',
      verdict ?? (plan.cache === undefined ? 'forwarded' : 'served from the cache if stored, otherwise forwarded'),
    ),
    ...allowed(entryOf()),
  ];
}

/** Returns the last step of the explanation of a refused request, which describes what would allow the request. */
function allowed(entry: string | undefined): ExplainStep[] {
  return entry === undefined ? [] : [step('to allow it', entry)];
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

/** Returns the principal that an account has after its credential has been verified. */
function principalOf(name: string | undefined): Principal {
  if (name === undefined) return ANONYMOUS;
  return { kind: 'verified', name, audience: verifiedAudience(name), authorization: 'Basic (of the caller)' };
}

function credentialProblem(gateway: CompiledGateway, plan: Plan | undefined, { kind }: Principal): string | undefined {
  if (kind !== 'anonymous' || (plan ?? gateway).checks.authentication !== 'enforce') return undefined;
  if (gateway.anonymous === 'allow' && plan?.operation.needsCredential !== true) return undefined;
  return '401 credentials_required: this request requires a credential';
}

function permissionProblem(
  gateway: CompiledGateway,
  plan: Plan,
  exchange: Exchange,
  decision: Decision,
): string | undefined {
  if (decision.verdict !== 'denied' || plan.checks.permissions !== 'enforce') return undefined;
  return describeRefusal(permissionRefusal(plan.operation, exchange, decision.missing, gateway.challenge));
}

function describeUndocumented(verdict: UndocumentedVerdict): string {
  if (!verdict.pass)
    return verdict.code === 'method_not_allowed'
      ? `405 ${verdict.code}, Allow: ${verdict.allow.join(', ')}`
      : `404 ${verdict.code}`;
  const needs = verdict.permission === undefined ? '' : `, requires "${verdict.permission}"`;
  return `forwarded unchanged${needs}${verdict.reported ? ', reported' : ''}`;
}

function step(name: string, text: string): ExplainStep {
  return { name, text };
}

/** Formats one step of an explanation as a line of text. */
export function explainLine({ name, text }: ExplainStep): string {
  return `${`${name}:`.padEnd(13)}${text}`;
}

/** Describes the caller. */
function describePrincipal({ kind, name }: Principal): string {
  return name === undefined ? 'anonymous' : `${name} (${kind})`;
}

/** Describes the operation, its modes and its stages. */
function describePlan(
  { operation, checks, moved = [], overridden, errors, stages }: Plan,
  mode: ModeName,
): ExplainStep[] {
  const row = operation.row === undefined ? '' : ` (row ${operation.row})`;
  return [
    step('operation', `${operation.id}${row}, ${operation.provenance}`),
    step('mode', mode),
    step('checks', CHECK_NAMES.map((name) => `${name} ${checks[name]}`).join(', ')),
    ...moved.map((words) => step('ladder', words)),
    ...(overridden?.words ?? []).map((words) => step('override', words)),
    step('errors', errors),
    step('plan', stages.join(' → ')),
  ];
}

/** Describes the rules of `rateLimits` that apply to the caller. */
function limitSteps({ rateLimiter }: CompiledGateway, { operation, stages }: Plan, roles: readonly string[]) {
  if (!stages.includes('limit-rate')) return [];
  return (rateLimiter?.rulesFor(operation.id) ?? [])
    .filter((rule) => rule.roles === undefined || rule.roles.some((role) => roles.includes(role)))
    .map(({ name, requests, windowSeconds, per }) =>
      step('rate limit', `${name}: ${requests} requests in ${windowSeconds} s per ${per}`),
    );
}

/** Describes how the credential is handled. */
function describeCredential({ operation, checks }: Plan, { kind }: Principal): string {
  if (kind !== 'anonymous') return 'treated as verified';
  const needed = operation.needsCredential
    ? 'required by this operation'
    : 'none; allowed only with authentication.anonymous: allow';
  return `${needed} (authentication ${checks.authentication})`;
}

/** Describes the decoded parameters. */
function describeValues({ path, query }: ParameterValues): string {
  const texts = [
    ...Object.entries(path).map(([name, value]) => `${name}=${value}`),
    ...[...query].map(([name, values]) => `${name}=${values.join(' | ')}`),
  ];
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** Formats a requirement as one readable line. */
export function describeRequirement(requirement: Requirement | undefined): string {
  if (requirement === undefined) return 'none beyond authentication';
  if ('permission' in requirement) return `"${requirement.permission}"`;
  if ('group' in requirement) return `group "${requirement.group}"`;
  if ('flag' in requirement) return `flag ${requirement.flag}`;
  if ('own' in requirement) return `own node and ${describeRequirement(requirement.own)}`;
  const [parts, word] = 'all' in requirement ? [requirement.all, ' and '] : [requirement.any, ' or '];
  return `(${parts.map(describeRequirement).join(word)})`;
}

/** Describes the result of the permission rules. */
function describeDecision(decision: Decision): string {
  if (decision.verdict === 'allowed') return `allowed: ${decision.because}`;
  if (decision.verdict === 'denied') {
    const { missing, alternatives } = decision;
    return alternatives === undefined
      ? `denied: ${missing.join(', ')} missing`
      : `denied: ${alternatives.join(' or ')} missing (any one of these is enough)`;
  }
  return decision.because === 'ownership'
    ? 'undecided: ownership'
    : 'delegated to the upstream: the caller is not in the roles file';
}

/** Describes the page-bound check that precedes the upstream request. */
function describeBound(bound: BoundPage): string {
  if (!bound.ok) return bound.message;
  return `page ${bound.effective.page}, pageSize ${bound.effective.pageSize ?? "the upstream's default"}`;
}

/** Describes the error that ends a request. */
function describeRefusal({ status, code, message }: GatewayError): string {
  return `${status} ${code}: ${message}`;
}
