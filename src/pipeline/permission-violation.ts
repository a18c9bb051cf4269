import type { CheckLevel } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { Decision } from '../model/requirement.ts';
import type { Trace } from '../model/trace.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import type { Violation } from '../model/violation.ts';
import { readError } from '../upstream/error-shape.ts';
import type { PermissionMessage } from '../upstream/permission-message.ts';

/** Writes what a decision comes to at a level; one that is left to the upstream was not made here. */
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

/** `missing` is a name of the contract or the configuration: no caller can put anything else there. */
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

/** Two verdicts on one caller that differ: how a team learns that its roles file is wrong (rules, 3). */
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

/** True for an answer by which the upstream says that this caller lacks a permission, in whichever shape it says so. */
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
