import type { ParameterValues } from '../contract/parameter-values.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { CHECK_NAMES, type ModeName } from '../model/checks.ts';
import type { Decision, Requirement } from '../model/requirement.ts';
import type { Principal } from '../model/principal.ts';
import type { BoundPage } from '../paging/bound-page.ts';
import type { Plan } from './plan.ts';

/** One line of an explanation: a name and what is to be said of it. */
export function line(name: string, text: string): string {
  return `${`${name}:`.padEnd(13)}${text}`;
}

/** Who asks. */
export function describePrincipal({ kind, name }: Principal): string {
  return name === undefined ? 'anonymous' : `${name} (${kind})`;
}

/** The operation, its modes and its stages. */
export function describePlan({ operation, checks, moved = [], errors, stages }: Plan, mode: ModeName): string[] {
  const row = operation.row === undefined ? '' : ` (row ${operation.row})`;
  return [
    line('operation', `${operation.id}${row}, ${operation.provenance}`),
    line('mode', mode),
    line('checks', CHECK_NAMES.map((name) => `${name} ${checks[name]}`).join(', ')),
    ...moved.map((words) => line('ladder', words)),
    line('errors', errors),
    line('plan', stages.join(' → ')),
  ];
}

/** What is made of the credential. */
export function describeCredential({ operation, checks }: Plan, { kind }: Principal): string {
  if (kind !== 'anonymous') return 'taken as verified';
  const needed = operation.needsCredential
    ? 'needed by this operation'
    : 'none; accepted only with authentication.anonymous: allow';
  return `${needed} (authentication ${checks.authentication})`;
}

/** The decoded parameters. */
export function describeValues({ path, query }: ParameterValues): string {
  const texts = [
    ...Object.entries(path).map(([name, value]) => `${name}=${value}`),
    ...[...query].map(([name, values]) => `${name}=${values.join(' | ')}`),
  ];
  return texts.length === 0 ? 'none' : texts.join(', ');
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

/** What the permission rules say. */
export function describeDecision(decision: Decision): string {
  if (decision.verdict === 'allowed') return `allowed: ${decision.because}`;
  if (decision.verdict === 'denied') return `denied: ${decision.missing.join(', ')} missing`;
  return decision.because === 'ownership'
    ? 'undecided: ownership'
    : 'delegated to the upstream: the roles file does not know the caller';
}

/** What the page bounds say before the upstream is asked. */
export function describeBound(bound: BoundPage): string {
  if (!bound.ok) return bound.message;
  return `page ${bound.effective.page}, pageSize ${bound.effective.pageSize ?? "the upstream's own"}`;
}

/** An error as the last word on a request. */
export function describeRefusal({ status, code, message }: GatewayError): string {
  return `${status} ${code}: ${message}`;
}
