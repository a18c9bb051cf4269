import type { ErrorCode } from '../errors/catalogue.ts';
import { type ErrorDetail, GatewayError } from '../errors/gateway-error.ts';
import type { CheckLevel, CheckName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/**
 * Returns the text that the specification documents for an operation and status, or the gateway's own text (rules, 8).
 */
export function documentedText(operation: Operation, status: number, own: string): string {
  return operation.documentedErrors.find((error) => error.status === status)?.text ?? own;
}

/** Returns the error detail that shows a client which part of its request violates the contract. */
export function toDetail(violation: Violation): ErrorDetail {
  return {
    in: violation.location,
    name: violation.at,
    message: violation.message,
    ...(violation.suggestion === undefined ? {} : { suggestion: violation.suggestion }),
  };
}

/** Returns the error that refuses a request because of its violations. The first violation determines the text. */
export function requestRefusal(operation: Operation, code: ErrorCode, violations: readonly Violation[]): GatewayError {
  const first = violations[0];
  const hint = first?.suggestion === undefined ? '' : `; did you mean ${first.suggestion}?`;
  return new GatewayError(
    code,
    documentedText(operation, 400, `${first?.message ?? 'The request is refused.'}${hint}`),
    {
      details: violations.map(toDetail),
    },
  );
}

/** Returns the verdict of a check that found these violations at this level. */
export function toVerdict(level: CheckLevel, violations: readonly Violation[]): CheckVerdict {
  if (level === 'off') return { level, outcome: 'skipped', reason: 'off' };
  if (violations.length === 0) return { level, outcome: 'passed' };
  return { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
}

/** Returns the verdict of a check that failed at this level because of an internal error. */
export function failedVerdict(level: CheckLevel): CheckVerdict & { readonly outcome: 'failed' } {
  return { level, outcome: 'failed', reason: 'error' };
}

/**
 * Records that a check failed because of an internal error. The failure appears in the log and metrics, and the
 * exchange continues without a verdict.
 */
export function checkFailed(trace: Trace, check: CheckName, level: CheckLevel, error: unknown): void {
  trace.cause ??= error;
  const failed = failedVerdict(level);
  if (check === 'responses') trace.responses = { ...failed, verdict: 'skipped' };
  else if (check === 'authentication') return;
  else trace[check] = failed;
}
