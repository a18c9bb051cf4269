import type { ErrorCode } from '../errors/catalogue.ts';
import { GatewayError, type ErrorDetail } from '../errors/gateway-error.ts';
import type { Operation } from '../model/operation.ts';
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
