import type { Contract } from '../contract/contract.ts';
import type { DecodedParameters } from '../contract/compile/decode-parameters.ts';
import type { ParameterValues } from '../contract/parameter-values.ts';
import type { PathMatch } from '../contract/paths.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import type { Arrival } from '../model/arrival.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { CheckLevel } from '../model/checks.ts';
import type { Violation } from '../model/violation.ts';
import { type AskedPage, toAskedPage } from '../paging/asked-page.ts';
import { canonicalTarget } from '../paging/canonical-target.ts';
import type { PlannedOperation } from './planned-operation.ts';
import { requestRefusal } from './request-refusal.ts';
import { checkFailed, toVerdict } from './verdict.ts';

/** What `admit` made of an arrival. */
export interface Admission {
  readonly values: () => ParameterValues;
  /** The page that is asked for. */
  readonly asked: AskedPage;
  /** The exact target that will be sent upstream. */
  readonly target: string;
}

/** Decodes and checks the parameters of a matched request; throws 400 when they are enforced and wrong. */
export function admit(
  planned: PlannedOperation,
  contract: Pick<Contract, 'decodeParameters'>,
  match: PathMatch,
  arrival: Pick<Arrival, 'path' | 'query' | 'target'>,
  trace: Trace,
): Admission {
  const { operation, checks, transparent } = planned;
  let decoded: DecodedParameters;
  try {
    decoded = contract.decodeParameters(operation, match, arrival.query);
  } catch (error) {
    if (!transparent) throw error;
    // Where everything passes as it is, a mistake in reading the parameters ends nothing.
    checkFailed(trace, 'requests', checks.requests, error);
    const values = noValues(match);
    return { values: () => values, asked: toAskedPage(values, arrival.target), target: arrival.target };
  }
  const { values, violations, reported } = decoded;
  if (checks.requests !== 'off') trace.violations.push(...violations, ...reported);
  trace.requests = verdictOf(checks.requests, violations, reported);
  if (checks.requests === 'enforce' && violations.length > 0)
    throw requestRefusal(operation, parameterCode(violations), violations);
  const target = transparent ? arrival.target : targetOf(planned, arrival, values);
  return { values: () => values, asked: toAskedPage(values, target), target };
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
