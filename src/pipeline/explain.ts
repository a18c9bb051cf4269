import type { ParameterValues } from '../contract/values.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { ModeName } from '../model/modes.ts';
import { ANONYMOUS, type Principal, verifiedAudience } from '../model/principal.ts';
import { type Operation, type Decision, describeRequirement, type Requirement } from '../model/operation.ts';
import { createTrace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { boundPage, type BoundPage } from '../paging/page-counts.ts';
import type { Grants } from '../permissions/decide.ts';
import type { CompiledGateway } from './compiled-gateway.ts';
import { admitted } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import type { Plan } from './plan.ts';
import { decideFromMemory, permissionRefusal } from './stages/authorize.ts';
import { limitedRoles } from './stages/limit-rate.ts';
import { pageKey } from './stored-reply.ts';
import { PASSTHROUGH_BASE } from './undocumented/policy.ts';
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
    if (pageProblem === undefined) return undefined;
    const isTooLarge = pageSize !== undefined && pageSize > plan.maxPageSize;
    return isTooLarge ? `pageBounds: { maxPageSize: ${pageSize} }` : levelEntry(operation, 'pageBounds');
  };
  return [
    ...steps,
    step('parameters', describeValues(values)),
    ...trace.violations.map(({ message }) => step('reported', message)),
    ...limitSteps(gateway, plan, limitedRoles(exchange.grants)),
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

/** Returns the final step of the explanation for a refused request, which describes what would allow the request. */
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

/** Returns the principal for an account whose credential has been verified. */
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

function describePrincipal({ kind, name }: Principal): string {
  return name === undefined ? 'anonymous' : `${name} (${kind})`;
}

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

/** Describes the rules in `rateLimits` that apply to the caller. */
function limitSteps({ rateLimiter }: CompiledGateway, { operation, stages }: Plan, roles: readonly string[]) {
  if (!stages.includes('limit-rate')) return [];
  return (rateLimiter?.rulesFor(operation.id) ?? [])
    .filter((rule) => rule.roles === undefined || rule.roles.some((role) => roles.includes(role)))
    .map(({ name, requests, windowSeconds, per }) =>
      step('rate limit', `${name}: ${requests} requests in ${windowSeconds} s per ${per}`),
    );
}

function describeCredential({ operation, checks }: Plan, { kind }: Principal): string {
  if (kind !== 'anonymous') return 'treated as verified';
  const needed = operation.needsCredential
    ? 'required by this operation'
    : 'none; allowed only with authentication.anonymous: allow';
  return `${needed} (authentication ${checks.authentication})`;
}

function describeValues({ path, query }: ParameterValues): string {
  const texts = [
    ...Object.entries(path).map(([name, value]) => `${name}=${value}`),
    ...[...query].map(([name, values]) => `${name}=${values.join(' | ')}`),
  ];
  return texts.length === 0 ? 'none' : texts.join(', ');
}

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

/** Describes the page-bounds check that precedes the upstream request. */
function describeBound(bound: BoundPage): string {
  if (!bound.ok) return bound.message;
  return `page ${bound.effective.page}, pageSize ${bound.effective.pageSize ?? "the upstream's default"}`;
}

function describeRefusal({ status, code, message }: GatewayError): string {
  return `${status} ${code}: ${message}`;
}

/** Returns the configuration entry that sets a check to `report` for an operation. */
function levelEntry({ id }: Operation, check: CheckName): string {
  return `operations: { ${id}: { checks: { ${check}: report } } }`;
}

/**
 * Describes what a request without a credential needs in order to be allowed: a credential or, if possible, a
 * configuration entry.
 */
function credentialEntry({ needsCredential }: Pick<Operation, 'needsCredential'>): string {
  const send = 'send an HTTP Basic credential (other schemes, such as Bearer, are not accepted)';
  return needsCredential ? send : `${send}, or authentication: { anonymous: allow }`;
}

/** Returns the configuration entry that would allow a request with these invalid parameters. */
function parameterEntry(operation: Operation, violations: readonly Violation[]): string {
  const unknown = violations.filter(({ keyword }) => keyword === 'unknown').map(({ at }) => at);
  if (unknown.length < violations.length) return levelEntry(operation, 'requests');
  return `parameters: { allow: { ${operation.id}: [${unknown.map(quoted).join(', ')}] } }`;
}

/** Returns the configuration entry that would allow requests for an undocumented path. */
function undocumentedEntry(
  { pathTemplate }: CompiledGateway,
  { method, path }: Arrival,
  { isDisabled }: UndocumentedVerdict,
): string {
  if (!path.startsWith(PASSTHROUGH_BASE))
    return `nothing; entries of undocumented.allow apply only to paths below ${PASSTHROUGH_BASE}`;
  const entry = `{ method: ${method === 'HEAD' ? 'GET' : method}, path: ${quoted(pathTemplate(path, true))} }`;
  return `${isDisabled === true ? 'contract: { inferred: true }, or ' : ''}undocumented: { allow: [${entry}] }`;
}

/** Returns an entry that would let a denied caller use an operation if added to the roles file or the configuration. */
function grantEntry(
  operation: Operation,
  { kind, name }: Principal,
  { roles, denied, spells }: Grants,
  { missing }: Extract<Decision, { verdict: 'denied' }>,
  disabledBy: string | undefined,
): string {
  if (disabledBy !== undefined) return enablingEntry(disabledBy);
  const account = quoted(name ?? '');
  if (spells !== undefined) return 'roles: { names: ignoreCase }, or log in with the spelling in the roles file';
  if (denied) return `roles file: accounts: [{ name: ${account}, roles: [${quoted('NAME')}] }]`;
  const terms = lackedTerms(operation.requires, new Set(missing));
  // A node is owned only by its author, so no configuration entry can grant ownership.
  if (terms === undefined || terms.length === 0) return levelEntry(operation, 'permissions');
  const named = (key: 'permission' | 'group' | 'flag') =>
    terms.flatMap((term) => (key in term ? [quoted(Object.values(term).join(''))] : []));
  const role = roles[0] ?? (kind === 'anonymous' ? 'anonymous' : 'NAME');
  const [permissions, groups, flags] = [named('permission'), named('group'), named('flag')];
  const grants = [
    permissions.length > 0 && `roles: { ${quoted(role)}: { permissions: [${permissions.join(', ')}] } }`,
    groups.length > 0 && `accounts: [{ name: ${account}, groups: [${groups.join(', ')}] }]`,
    flags.length > 0 && `accounts: [{ name: ${account}, flags: [${flags.join(', ')}] }]`,
  ];
  return `roles file: ${grants.filter((text) => text !== false).join(' and ')}`;
}

type Term = Exclude<Requirement, { all: unknown } | { any: unknown } | { own: unknown }>;

/**
 * Chooses the alternative of the requirement that is closest to being met, and returns the terms that the caller
 * lacks. Returns undefined if only the node's author can meet the requirement.
 */
function lackedTerms(requirement: Requirement | undefined, missing: ReadonlySet<string>): readonly Term[] | undefined {
  if (requirement === undefined || 'own' in requirement) return undefined;
  if ('all' in requirement) {
    const parts = requirement.all.map((part) => lackedTerms(part, missing));
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }
  if ('any' in requirement)
    return requirement.any
      .flatMap((part) => {
        const terms = lackedTerms(part, missing);
        return terms === undefined ? [] : [terms];
      })
      .toSorted((a, b) => a.length - b.length)[0];
  return missing.has(Object.values(requirement).join('')) ? [requirement] : [];
}

/** Returns the configuration entry that sets a key such as `issueTracker.enabled` to true. */
function enablingEntry(key: string): string {
  const names = key.split('.');
  return `${names.join(': { ')}: true${' }'.repeat(names.length - 1)}`;
}

/** Quotes a string in a way that is valid in both YAML and JSON. */
const quoted = (text: string): string => JSON.stringify(text);
