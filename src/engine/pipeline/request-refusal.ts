import type { ErrorCode, ErrorKind } from '../errors/catalogue.ts';
import { type ErrorDetail, GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';

/**
 * Returns the error text that the specification documents for an operation, a status and a cause. If there is none,
 * returns the gateway's own description of the problem (docs/rules.md §8).
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

/** Returns the error detail that names the part of the request that violates the contract. */
export function toDetail(violation: Violation): ErrorDetail {
  return {
    in: violation.location,
    name: violation.at,
    message: violation.message,
    ...(violation.suggestion === undefined ? {} : { suggestion: violation.suggestion }),
  };
}

/** Returns the error for a request with violations. The text describes the first violation. */
export function requestRefusal(
  operation: Operation,
  code: ErrorCode | ErrorKind,
  violations: readonly Violation[],
): GatewayError {
  const first = violations[0];
  const hint = first?.suggestion === undefined ? '' : `; did you mean ${first.suggestion}?`;
  const own = `${first?.message ?? 'The request is refused.'}${hint}`;
  const text = documentedText(operation, 400, first ?? {}, own);
  return new GatewayError(code, text, { details: violations.map(toDetail) });
}

/**
 * Returns the error for an undocumented request that the policy refuses. `allow` lists the documented methods, and
 * `suggestion` is the documented path that the client probably meant.
 */
export function undocumentedRefusal(
  { method, path }: Pick<Arrival, 'method' | 'path'>,
  code: 'not_in_contract' | 'method_not_allowed',
  allow: readonly string[],
  { basePath, suggestion }: { readonly basePath: string; readonly suggestion: string | undefined },
): GatewayError {
  const exceptions = path.startsWith(basePath);
  if (code === 'method_not_allowed') {
    const text = `${method.slice(0, 20)} is not allowed for this address; the allowed methods are ${allow.join(', ')}.`;
    const details = [
      { in: 'method', message: `use ${allow.join(' or ')}` },
      ...(exceptions ? [{ in: 'method', message: exceptionFor('other methods') }] : []),
    ];
    return new GatewayError(code, text, { details, headers: { Allow: allow.join(', ') } });
  }
  const hint = suggestion === undefined ? '.' : `; did you mean ${suggestion}?`;
  return new GatewayError(code, `This address is not in the contract${hint}`, {
    details: [
      {
        in: 'path',
        message: 'paths must match exactly, including case, slashes and the suffix .json',
        ...(suggestion !== undefined && { suggestion }),
      },
      ...(exceptions ? [{ in: 'path', message: exceptionFor('other paths') }] : []),
    ],
  });
}

const exceptionFor = (what: string) => `${what} are forwarded only with an entry in undocumented.allow`;
