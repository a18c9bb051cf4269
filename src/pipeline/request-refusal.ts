import type { ErrorCode } from '../errors/catalogue.ts';
import { type ErrorDetail, GatewayError } from '../errors/gateway-error.ts';
import type { CheckLevel, CheckName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/** The text that the specification documents for an operation and status, or our own (rules, 8). */
export function documentedText(operation: Operation, status: number, own: string): string {
  return operation.documentedErrors.find((error) => error.status === status)?.text ?? own;
}

/** The detail that tells a client which part of its request breaks the contract. */
export function toDetail(violation: Violation): ErrorDetail {
  return {
    in: violation.location,
    name: violation.at,
    message: violation.message,
    ...(violation.suggestion === undefined ? {} : { suggestion: violation.suggestion }),
  };
}

/** The error that refuses a request for its violations; the first one gives the text. */
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

/** The verdict of a check that found these violations at this level. */
export function toVerdict(level: CheckLevel, violations: readonly Violation[]): CheckVerdict {
  if (level === 'off') return { level, outcome: 'skipped', reason: 'off' };
  if (violations.length === 0) return { level, outcome: 'passed' };
  return { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
}

/** Returns the verdict of a check that broke at this level. */
export function failedVerdict(level: CheckLevel): CheckVerdict & { readonly outcome: 'failed' } {
  return { level, outcome: 'failed', reason: 'error' };
}

/** Records that a check broke while it judged: log and metrics show it, and the exchange goes on without its verdict. */
export function checkFailed(trace: Trace, check: CheckName, level: CheckLevel, error: unknown): void {
  trace.cause ??= error;
  const failed = failedVerdict(level);
  if (check === 'responses') trace.responses = { ...failed, verdict: 'skipped' };
  else if (check === 'authentication') return;
  else trace[check] = failed;
}
