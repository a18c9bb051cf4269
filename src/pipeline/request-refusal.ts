import type { ErrorCode } from '../errors/catalogue.ts';
import { type ErrorDetail, GatewayError } from '../errors/gateway-error.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';

/**
 * Returns the error text that the specification documents for an operation, a status and a cause. If there is none,
 * returns the gateway's own text, which describes the problem (rules, 8).
 */
export function documentedText(
  { documentedErrors }: Pick<Operation, 'documentedErrors'>,
  status: number,
  cause: Partial<Pick<Violation, 'at' | 'keyword'>>,
  own: string,
): string {
  const { at = '', keyword = '' } = cause;
  return (
    documentedErrors.find(
      (error) =>
        error.status === status &&
        (error.causes === undefined || error.causes.includes(at) || error.causes.includes(keyword)),
    )?.text ?? own
  );
}

/** Returns the error detail that tells the client which part of the request violates the contract. */
export function toDetail(violation: Violation): ErrorDetail {
  return {
    in: violation.location,
    name: violation.at,
    message: violation.message,
    ...(violation.suggestion === undefined ? {} : { suggestion: violation.suggestion }),
  };
}

/** Returns the error for a request with violations. The text describes the first violation. */
export function requestRefusal(operation: Operation, code: ErrorCode, violations: readonly Violation[]): GatewayError {
  const first = violations[0];
  const hint = first?.suggestion === undefined ? '' : `; did you mean ${first.suggestion}?`;
  return new GatewayError(
    code,
    documentedText(operation, 400, first ?? {}, `${first?.message ?? 'The request is refused.'}${hint}`),
    {
      details: violations.map(toDetail),
    },
  );
}
