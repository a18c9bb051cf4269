import type { CheckLevel } from '../model/checks.ts';
import { type Decision, PERMISSION_DENIED } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

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
