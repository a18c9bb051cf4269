import type { ParameterValues } from '../contract/values.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import { CHECK_NAMES, type CheckName, REQUEST_CHECKS } from '../model/checks.ts';
import type { ModeName } from '../model/modes.ts';
import { type Operation, type Decision, describeRequirement, type Requirement } from '../model/operation.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { dispatch } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import type { Plan } from './plan.ts';
import { type ExplainRequest, Forwarded, type DryRun } from './dry-run.ts';
import type { Reply } from './reply.ts';
import { describeTranslation } from './stages/translate-failure.ts';
import { pageKey } from './page-key.ts';
import type { Target } from './targets.ts';
import { DISABLED_METHOD } from './undocumented/admit.ts';

/** One step of an explanation: its name, such as `verdict`, and its description. */
export interface ExplainStep {
  readonly name: string;
  readonly text: string;
}

/** How a dry run ended. */
type Outcome =
  | { readonly kind: 'refused'; readonly error: GatewayError }
  | { readonly kind: 'forwarded'; readonly request: Forwarded }
  | { readonly kind: 'stored'; readonly reply: Reply };

/** A dry run that has ended, with everything that its stages have determined. */
interface Ended {
  readonly dryRun: DryRun;
  readonly request: ExplainRequest;
  readonly arrival: Arrival | undefined;
  readonly trace: Trace;
  readonly outcome: Outcome;
}

/**
 * Returns the steps that explain how a request would be handled. The request is dispatched like a real one, by a gateway
 * whose stages are the real stages but have no effects. This function only describes what the stages have decided.
 */
export async function explain(
  dryRun: DryRun,
  mode: ModeName,
  request: ExplainRequest,
): Promise<readonly ExplainStep[]> {
  const ended = await run(dryRun, request);
  const { trace } = ended;
  const { target, exchange } = dryRun.seen;
  const verdict = [step('verdict', describeVerdict(ended)), ...allowed(entryFor(ended))];
  const steps = [step('request', `${request.method} ${request.target}`), step('caller', describeCaller(ended))];
  if (target === undefined) return [...steps, ...verdict];
  const { plan } = target;
  if (plan === undefined)
    return [
      ...steps,
      step('mode', mode),
      step('operation', 'not in the contract'),
      ...permissionSteps(trace),
      ...reportedSteps(trace),
      ...upstreamSteps(ended),
      ...verdict,
    ];
  return [
    ...steps,
    ...describePlan(plan, mode),
    step('credential', describeCredential(plan, ended)),
    ...parameterSteps(trace, exchange),
    ...(exchange === undefined ? [] : dryRun.describe(plan, exchange).map(([name, text]) => step(name, text))),
    ...(exchange === undefined ? [] : [step('rule', describeRequirement(plan.operation.requires))]),
    ...permissionSteps(trace),
    ...boundSteps(plan, ended),
    ...reportedSteps(trace),
    ...upstreamSteps(ended),
    ...(exchange === undefined ? [] : [step('cache key', describeKey(plan, exchange))]),
    ...verdict,
  ];
}

/** Dispatches the request to the dry run's gateway. */
async function run(dryRun: DryRun, request: ExplainRequest): Promise<Ended> {
  const { gateway } = dryRun;
  const trace = createTrace({
    requestId: 'explain',
    traceparent: '',
    method: request.method.toUpperCase(),
    startedAt: gateway.clock(),
  });
  let arrival: Arrival | undefined;
  const ended = (outcome: Outcome): Ended => ({ dryRun, request, arrival, trace, outcome });
  try {
    arrival = await dryRun.arrive(request);
    const { reply } = await dispatch(gateway, arrival, trace);
    return ended({ kind: 'stored', reply });
  } catch (error) {
    if (error instanceof Forwarded) return ended({ kind: 'forwarded', request: error });
    if (error instanceof GatewayError) return ended({ kind: 'refused', error });
    throw error;
  }
}

/** Formats one step of an explanation as a line of text. */
export function explainLine({ name, text }: ExplainStep): string {
  return `${`${name}:`.padEnd(13)}${text}`;
}

function step(name: string, text: string): ExplainStep {
  return { name, text };
}

/** Returns the final step of the explanation for a refused request, which describes what would allow the request. */
function allowed(entry: string | undefined): ExplainStep[] {
  return entry === undefined ? [] : [step('to allow it', entry)];
}

function describeCaller({ request: { as, token }, trace }: Ended): string {
  const name = token === undefined ? as : (trace.caller ?? 'the holder of the token');
  if (name === undefined) return 'anonymous';
  const { principal = 'verified' } = trace.authentication ?? {};
  return `${name} (${principal === 'none' ? 'refused' : principal})`;
}

function describeVerdict({ dryRun, trace, outcome }: Ended): string {
  const told = describeOutcome(dryRun.seen.target, trace, outcome);
  const { lookUps } = dryRun;
  if (lookUps.length === 0) return told;
  const asked = lookUps.map((target) => `GET ${target}`).join(', ');
  return `undecided: the gateway would first ask the upstream (${asked}); without its response: ${told}`;
}

function describeOutcome(target: Target | undefined, trace: Trace, outcome: Outcome): string {
  if (outcome.kind === 'refused') return describeRefusal(outcome.error);
  if (outcome.kind === 'stored')
    return `served from the cache (${trace.cache?.status ?? 'hit'}, ${Math.floor(trace.cache?.ageSeconds ?? 0)} s old)`;
  if (target?.plan === undefined || target.plan.transparent) {
    const { undocumented } = trace;
    return `forwarded unchanged${undocumented?.outcome === 'reported' ? ', reported' : ''}`;
  }
  const { cache } = trace;
  if (cache === undefined) return 'forwarded';
  const { status, reason = status } = cache;
  return `forwarded (cache: ${status}${reason === status ? '' : `, ${reason}`})`;
}

/** Describes an error of the gateway, with the corrections that it suggests. */
function describeRefusal({ status, code, message, headers }: GatewayError): string {
  const allow = headers['Allow'] === undefined ? '' : `, Allow: ${headers['Allow']}`;
  return `${status} ${code}${allow}: ${message}`;
}

function describePlan(
  { operation, checks, changes = [], errors, translation, stages }: Plan,
  mode: ModeName,
): ExplainStep[] {
  const row = operation.row === undefined ? '' : ` (row ${operation.row})`;
  return [
    step('operation', `${operation.id}${row}, ${operation.provenance}`),
    step('mode', mode),
    step('checks', CHECK_NAMES.map((name) => `${name} ${checks[name]}`).join(', ')),
    ...changes.map(({ decidedBy, words }) => step(decidedBy, words)),
    step('errors', errors),
    step('translation', describeTranslation({ operation, translation })),
    step('plan', stages.join(' → ')),
  ];
}

function describeCredential({ operation, checks }: Plan, { request: { as, token, password }, trace }: Ended): string {
  if (as !== undefined || token !== undefined) {
    if (trace.authentication?.principal === 'verified') return 'treated as verified';
    const isUnknown = trace.authentication?.principal === 'unverified' && password === undefined && token === undefined;
    return isUnknown ? 'not verified; pages and page counts remembered for it are unknown' : 'not verified';
  }
  const needed = operation.needsCredential
    ? 'required by this operation'
    : 'none; allowed only with authentication.anonymous: allow';
  return `${needed} (authentication ${checks.authentication})`;
}

/** Describes the parameters: their values if they were accepted, or why they were refused. */
function parameterSteps({ violations }: Trace, exchange: Exchange | undefined): ExplainStep[] {
  if (exchange !== undefined) return [step('parameters', describeValues(exchange.values()))];
  return violations.map((violation) => step('parameters', describeViolation(violation)));
}

function describeValues({ path, query }: ParameterValues): string {
  const texts = [
    ...Object.entries(path).map(([name, value]) => `${name}=${value}`),
    ...[...query].map(([name, values]) => `${name}=${values.join(' | ')}`),
  ];
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** Describes the decision about the caller's permissions. */
function permissionSteps({ permissions }: Trace): ExplainStep[] {
  return permissions?.decision === undefined ? [] : [step('permission', describeDecision(permissions.decision))];
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

/** Describes the result of the page-bounds check. */
function boundSteps({ operation: { paging } }: Plan, { dryRun, trace, outcome }: Ended): ExplainStep[] {
  const { requestedPage } = dryRun.seen.exchange ?? {};
  if (trace.pageBounds === undefined || requestedPage === undefined || paging === undefined) return [];
  const { page = paging.firstPage, pageSize = "the upstream's default" } = requestedPage;
  if (trace.pageBounds.outcome === 'refused' && outcome.kind === 'refused')
    return [step('page bounds', outcome.error.message)];
  const found = trace.violations.filter(({ check }) => check === 'pageBounds').map(describeViolation);
  return [step('page bounds', found.length > 0 ? found.join(', ') : `page ${page}, pageSize ${pageSize}`)];
}

/** Describes the violations that are only reported. */
function reportedSteps(trace: Trace): ExplainStep[] {
  return trace.violations
    .filter(({ check }) => check !== 'upstream' && trace[check]?.outcome === 'reported')
    .map((violation) => step('reported', describeViolation(violation)));
}

function describeViolation({ message, suggestion }: Violation): string {
  return suggestion === undefined ? message : `${message}; did you mean ${suggestion}?`;
}

function upstreamSteps({ outcome }: Ended): ExplainStep[] {
  return outcome.kind === 'forwarded' ? [step('upstream', `${outcome.request.method} ${outcome.request.target}`)] : [];
}

function describeKey(plan: Plan, exchange: Exchange): string {
  return plan.cache === undefined ? 'not stored' : JSON.stringify(pageKey(plan, exchange).split('\n'));
}

/** Returns what would allow a refused request, or undefined if the request is not refused or nothing would allow it. */
function entryFor({ dryRun, arrival, trace, outcome }: Ended): string | undefined {
  if (outcome.kind !== 'refused') return undefined;
  const { error } = outcome;
  const { target, exchange } = dryRun.seen;
  const operation = target?.plan?.operation;
  if (trace.authentication?.outcome === 'refused' || error.code === 'needs_caller_credential')
    return credentialEntry(dryRun, operation?.needsCredential === true || error.code === 'needs_caller_credential');
  if (trace.undocumented?.outcome === 'refused' && arrival !== undefined)
    return undocumentedEntry(dryRun.gateway, arrival, trace);
  if (error.code === 'rate_limited') return `wait ${error.headers['Retry-After']} s, or change rateLimits`;
  if (operation === undefined) return undefined;
  if (error.code === 'operation_disabled') return target?.plan?.disabled?.toEnd;
  const decision = trace.permissions?.outcome === 'refused' ? trace.permissions.decision : undefined;
  if (decision?.verdict === 'denied' && exchange !== undefined)
    return grantEntry(operation, exchange, decision, dryRun.disabledOperations.get(operation.id));
  const check = REQUEST_CHECKS.find((one) => trace[one]?.outcome === 'refused');
  if (check === 'requests') return requestEntry(operation, trace.violations);
  const { pageSize = 0 } = exchange?.requestedPage ?? {};
  if (check === 'pageBounds' && pageSize > (target?.plan?.maxPageSize ?? Number.POSITIVE_INFINITY))
    return `pageBounds: { maxPageSize: ${pageSize} }`;
  return check === undefined ? undefined : levelEntry(operation, check);
}

/** Returns the configuration entry that sets a check to `report` for an operation. */
function levelEntry({ id }: Pick<Operation, 'id'>, check: CheckName): string {
  return `operations: { ${id}: { checks: { ${check}: report } } }`;
}

/**
 * Describes what a request without a credential needs in order to be allowed: a credential or, if possible, a
 * configuration entry.
 */
function credentialEntry({ accepted }: Pick<DryRun, 'accepted'>, isNeeded: boolean): string {
  const others = accepted.includes('Bearer') ? 'other schemes' : 'other schemes, such as Bearer,';
  const send = `send an HTTP ${accepted.join(' or ')} credential (${others} are not accepted)`;
  return isNeeded ? send : `${send}, or authentication: { anonymous: allow }`;
}

/** Returns the configuration entry that would allow a request with these violations. */
function requestEntry(operation: Operation, violations: readonly Violation[]): string {
  const own = violations.filter(({ check, direction }) => check === 'requests' && direction === 'request');
  const unknown = own.filter(({ keyword, location }) => keyword === 'unknown' && location === 'query');
  if (unknown.length < own.length) return levelEntry(operation, 'requests');
  return `parameters: { allow: { ${operation.id}: [${unknown.map(({ at }) => quoted(at)).join(', ')}] } }`;
}

/** Returns the configuration entry that would allow requests for an undocumented path. */
function undocumentedEntry(
  { pathTemplate, basePath }: DryRun['gateway'],
  { method, path }: Arrival,
  { violations }: Trace,
): string {
  if (!path.startsWith(basePath)) return `nothing; entries of undocumented.allow apply only to paths below ${basePath}`;
  const isDisabled = violations.some(({ message }) => message === DISABLED_METHOD);
  const entry = `{ method: ${method === 'HEAD' ? 'GET' : method}, path: ${quoted(pathTemplate(path, true))} }`;
  return `${isDisabled ? 'contract: { inferred: true }, or ' : ''}undocumented: { allow: [${entry}] }`;
}

/** Returns an entry that would let a denied caller use an operation if added to the roles file or the configuration. */
function grantEntry(
  operation: Operation,
  { principal: { kind, name, access }, grants: { roles, denied, spells } }: Exchange,
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
  if (access?.only !== undefined)
    return `a credential whose scope contains ${terms.map((term) => quoted(Object.values(term).join(''))).join(' and ')}`;
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
