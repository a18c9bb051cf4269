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

/** What checking the parameters of a target found; it depends on the target's text and the contract alone. */
export interface Admission {
  readonly values: () => ParameterValues;
  /** The page that is requested. */
  readonly asked: RequestedPage;
  /** The exact target that will be sent upstream. */
  readonly target: string;
  /** The verdict of the check `requests` on the parameters. */
  readonly verdict: CheckVerdict;
  readonly violations: readonly Violation[];
  /** Why the request is refused, where the check is enforced and the parameters are wrong. */
  readonly refusal: GatewayError | undefined;
  /** What was thrown while the parameters were decoded, where that does not end the request. */
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
    // Where everything passes as it is, a mistake in reading the parameters ends nothing.
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

/** Of a query that could not be read, nothing is known. */
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

/** Parameters that the contract counts but never refuses make a verdict of `reported` at any level (rules, 4). */
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
    // No page equals NaN, so that nothing is omitted where an operation has no pages.
    firstPage: planned.operation.paging?.firstPage ?? Number.NaN,
    knownDefaultPageSize: planned.defaultPageSize,
  });
}

function parameterCode(violations: readonly Violation[]): ErrorCode {
  const [first] = violations;
  if (first?.category === 'undocumented') return 'unknown_parameter';
  return first?.keyword === 'repeated' ? 'repeated_parameter' : 'invalid_parameter';
}
