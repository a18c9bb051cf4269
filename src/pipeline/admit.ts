import type { Contract } from '../contract/contract.ts';
import type { DecodedParameters } from '../contract/compile/decode-parameters.ts';
import type { ParameterValues } from '../contract/parameter-values.ts';
import type { PathMatch } from '../contract/paths.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import type { Arrival } from '../model/arrival.ts';
import type { CheckVerdict } from '../model/trace.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { CheckLevel } from '../model/checks.ts';
import type { Violation } from '../model/violation.ts';
import { type RequestedPage, canonicalTarget, toRequestedPage } from '../paging/requested-page.ts';
import type { PlannedOperation } from './planned-operation.ts';
import { failedVerdict, requestRefusal, toVerdict } from './request-refusal.ts';

/** The result of checking the parameters of a target. It depends only on the text of the target and the contract. */
export interface Admission {
  readonly values: () => ParameterValues;
  /** The requested page. */
  readonly asked: RequestedPage;
  /** The exact target that will be sent upstream. */
  readonly target: string;
  /** The verdict of the `requests` check on the parameters. */
  readonly verdict: CheckVerdict;
  readonly violations: readonly Violation[];
  /** The refusal of the request, if the check is enforced and the parameters are invalid. */
  readonly refusal: GatewayError | undefined;
  /** The error thrown while decoding the parameters, if it does not end the request. */
  readonly failure?: unknown;
}

/** Decodes and checks the parameters of a matched target. */
export function admit(
  planned: PlannedOperation,
  contract: Pick<Contract, 'decodeParameters'>,
  match: PathMatch,
  { path, query, target: original }: Pick<Arrival, 'path' | 'query' | 'target'>,
): Admission {
  const { operation, checks, transparent } = planned;
  let decoded: DecodedParameters;
  try {
    decoded = contract.decodeParameters(operation, match, query);
  } catch (failure) {
    if (!transparent) throw failure;
    // In transparent mode, an error in decoding the parameters does not end the request.
    const verdict = failedVerdict(checks.requests);
    const values = noValues(match);
    const asked = toRequestedPage(values, original);
    return { values: () => values, asked, target: original, verdict, violations: [], refusal: undefined, failure };
  }
  const { values, violations, reported } = decoded;
  const target = transparent ? original : targetOf(planned, { path, query }, values);
  return {
    values: () => values,
    asked: toRequestedPage(values, target),
    target,
    verdict: verdictOf(checks.requests, violations, reported),
    violations: checks.requests === 'off' ? [] : [...violations, ...reported],
    refusal:
      checks.requests === 'enforce' && violations.length > 0
        ? requestRefusal(operation, parameterCode(violations), violations)
        : undefined,
  };
}

/** Returns no values, for a query that could not be read. */
function noValues({ rawParameters }: PathMatch): ParameterValues {
  return {
    path: rawParameters,
    query: new Map(),
    page: undefined,
    pageSize: undefined,
    sort: undefined,
    spaceId: undefined,
    projection: undefined,
    details: false,
    active: true,
    wrap: false,
    v1: false,
  };
}

/**
 * Returns the verdict of the check. If the only violations are those that are counted but never refused, the outcome is
 * `reported` at every level (rules, 4).
 */
function verdictOf(level: CheckLevel, violations: readonly Violation[], reported: readonly Violation[]): CheckVerdict {
  const verdict = toVerdict(level, violations);
  return verdict.outcome === 'passed' && reported.length > 0 ? { level, outcome: 'reported' } : verdict;
}

function targetOf(
  planned: PlannedOperation,
  arrival: Pick<Arrival, 'path' | 'query'>,
  values: ParameterValues,
): string {
  return canonicalTarget(arrival.path, arrival.query, {
    page: values.page,
    pageSize: values.pageSize,
    // NaN does not equal any page, so the page is never omitted for an operation without pages.
    firstPage: planned.operation.paging?.firstPage ?? Number.NaN,
    knownDefaultPageSize: planned.defaultPageSize,
  });
}

function parameterCode(violations: readonly Violation[]): ErrorCode {
  const [first] = violations;
  if (first?.category === 'undocumented') return 'unknown_parameter';
  return first?.keyword === 'repeated' ? 'repeated_parameter' : 'invalid_parameter';
}
