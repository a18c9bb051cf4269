import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import type { ModeName } from '../model/checks.ts';
import { CHECK_NAMES } from '../model/checks.ts';
import { ANONYMOUS, type Principal } from '../model/principal.ts';
import type { Requirement } from '../model/requirement.ts';
import { createTrace } from '../model/trace.ts';
import { boundPage } from '../paging/bound-page.ts';
import { admit, type Admission } from './admit.ts';
import { decideFromMemory } from './decide-permission.ts';
import { toExchange, undocumentedVerdict } from './dispatch.ts';
import type { House } from './house.ts';
import { pageKey } from './page-key.ts';
import type { Plan } from './plan.ts';
import type { UndocumentedVerdict } from './undocumented-policy.ts';

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
  const match = house.contract.match(arrival.path);
  const operation = match?.byMethod.get(arrival.method === 'HEAD' ? 'GET' : arrival.method);
  const plan = operation === undefined ? undefined : house.plans.get(operation.id);
  const principal = principalOf(request.as);
  const head = [line('request', `${request.method} ${request.target}`), line('caller', describePrincipal(principal))];
  if (match === undefined || plan === undefined)
    return [...head, line('mode', mode), ...explainUndocumented(undocumentedVerdict(house, arrival, match))];
  const lines = [...head, ...describePlan(plan, mode), line('credential', credentialVerdict(plan, principal))];
  const trace = createTrace({
    requestId: 'explain',
    traceparent: '',
    method: arrival.method,
    startedAt: house.clock(),
  });
  let admission: Admission;
  try {
    admission = admit(plan, house.contract, match, arrival, trace);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [
      ...lines,
      ...trace.violations.map(({ message }) => line('parameters', message)),
      line('verdict', refusal(error)),
    ];
  }
  lines.push(...describeValues(admission), ...trace.violations.map(({ message }) => line('reported', message)));
  const exchange = toExchange(house, plan, { arrival, principal, ...admission, trace, signal: undefined });
  const decision = decideFromMemory(rules, plan, exchange);
  lines.push(line('rule', describeRequirement(plan.operation.requires)));
  lines.push(line('permission', decision));
  if (plan.operation.paging !== undefined) {
    const { page, pageSize } = admission.values;
    const bound = boundPage({ paging: plan.operation.paging, page, pageSize, learnedCount: undefined, options: plan });
    lines.push(
      line(
        'page bounds',
        bound.ok
          ? `page ${bound.effective.page}, pageSize ${bound.effective.pageSize ?? "the upstream's own"}`
          : bound.message,
      ),
    );
  }
  lines.push(line('upstream', `${plan.operation.method} ${admission.target}`));
  lines.push(
    line('cache key', plan.cache === undefined ? 'not kept' : pageKey(plan, exchange, house.contract.version)),
  );
  return lines;
}

const line = (name: string, text: string) => `${`${name}:`.padEnd(13)}${text}`;

function arrivalOf({ method, target }: ExplainRequest): Arrival {
  const mark = target.indexOf('?');
  return {
    method: method.toUpperCase(),
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? undefined : target.slice(mark + 1),
  } as Arrival;
}

function principalOf(name: string | undefined): Principal {
  if (name === undefined) return ANONYMOUS;
  return { kind: 'verified', name, audience: `name:${name}`, authorization: 'Basic (of the caller)' };
}

function describePrincipal({ kind, name }: Principal): string {
  return name === undefined ? 'anonymous' : `${name} (${kind})`;
}

function describePlan(plan: Plan, mode: ModeName): string[] {
  const { operation, checks } = plan;
  return [
    line(
      'operation',
      `${operation.id}${operation.row === undefined ? '' : ` (row ${operation.row})`}, ${operation.provenance}`,
    ),
    line('mode', mode),
    line('checks', CHECK_NAMES.map((name) => `${name} ${checks[name]}`).join(', ')),
    line('errors', plan.errors),
    line('plan', plan.stages.join(' → ')),
  ];
}

function credentialVerdict({ operation, checks }: Plan, { kind }: Principal): string {
  if (kind !== 'anonymous') return 'taken as verified';
  const needed = operation.needsCredential
    ? 'needed by this operation'
    : 'none; accepted only with authentication.anonymous: allow';
  return `${needed} (authentication ${checks.authentication})`;
}

function describeValues({ values }: Admission): string[] {
  const path = Object.entries(values.path).map(([name, value]) => `${name}=${value}`);
  const query = [...values.query].map(([name, texts]) => `${name}=${texts.join(' | ')}`);
  const all = [...path, ...query];
  return [line('parameters', all.length === 0 ? 'none' : all.join(', '))];
}

/** A requirement as one readable line. */
export function describeRequirement(requirement: Requirement | undefined): string {
  if (requirement === undefined) return 'none beyond authentication';
  if ('permission' in requirement) return `"${requirement.permission}"`;
  if ('group' in requirement) return `group "${requirement.group}"`;
  if ('flag' in requirement) return `flag ${requirement.flag}`;
  if ('own' in requirement) return `own node and ${describeRequirement(requirement.own)}`;
  const [parts, word] = 'all' in requirement ? [requirement.all, ' and '] : [requirement.any, ' or '];
  return `(${parts.map(describeRequirement).join(word)})`;
}

function refusal({ status, code, message }: GatewayError): string {
  return `${status} ${code}: ${message}`;
}

function explainUndocumented(verdict: UndocumentedVerdict): string[] {
  if (!verdict.pass) {
    const status =
      verdict.code === 'method_not_allowed'
        ? `405 ${verdict.code}, Allow: ${verdict.allow.join(', ')}`
        : `404 ${verdict.code}`;
    return [line('operation', 'not in the contract'), line('verdict', status)];
  }
  const needs = verdict.permission === undefined ? '' : `, needs "${verdict.permission}"`;
  return [
    line('operation', 'not in the contract'),
    line('verdict', `passed on as it is${needs}${verdict.reported ? ', reported' : ''}`),
  ];
}
