import type { CheckLevel } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { Decision } from '../model/requirement.ts';
import type { Trace } from '../model/trace.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import type { Violation } from '../model/violation.ts';
import { readError } from '../upstream/error-shape.ts';
import type { PermissionMessage } from '../upstream/permission-message.ts';

/** Records the result of a decision at a level. A decision that is delegated to the upstream has no result here. */
export function traceDecision(
  trace: Pick<Trace, 'permissions' | 'violations'>,
  level: CheckLevel,
  decision: Decision,
): void {
  trace.permissions = verdictOf(level, decision);
  if (decision.verdict === 'denied') trace.violations.push(denied(decision.missing[0] ?? ''));
}

function verdictOf(level: CheckLevel, decision: Decision): NonNullable<Trace['permissions']> {
  if (decision.verdict === 'allowed') return { level, outcome: 'passed', decision };
  if (decision.verdict === 'denied') return { level, outcome: level === 'enforce' ? 'refused' : 'reported', decision };
  return { level, outcome: 'skipped', reason: `delegated: ${decision.because}`, decision };
}

/**
 * Returns the violation for a missing permission. `missing` is a name from the contract or the configuration, so
 * callers cannot choose its text.
 */
function denied(missing: string): Violation {
  return {
    check: 'permissions',
    direction: 'request',
    category: 'semantic',
    location: 'header',
    at: missing,
    keyword: 'permission-denied',
    schemaPath: '',
    message: 'The roles file denies this caller what it asks for.',
  };
}

/**
 * Returns the violation for a caller on whom the gateway and the upstream disagree. It shows a team that its roles file
 * is wrong (rules, 3).
 */
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
      ? 'The roles file allows this caller, the upstream does not.'
      : 'The roles file denies this caller, the upstream does not.',
  };
}

/** Returns whether a response means that this caller lacks a permission, in any of the forms that the upstream uses. */
export function isPermissionDenial(
  operation: Operation,
  answer: UpstreamResponse,
  isMessage: PermissionMessage,
): boolean {
  if (answer.status !== 401 && answer.status !== 403) return false;
  const { message, otherMessage, isJson } = readError(answer);
  if (answer.status === 403 && isJson) return true;
  return [message, otherMessage].some((text) => text !== undefined && isMessage(text, operation.documentedErrors));
}
