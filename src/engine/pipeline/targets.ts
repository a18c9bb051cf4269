import { LRUCache } from 'lru-cache';
import type { DecodedParameters } from '../contract/compile/decode-parameters.ts';
import type { Contract } from '../contract/load-contract.ts';
import type { ParameterValues } from '../contract/values.ts';
import type { PathMatch } from '../contract/paths.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import type { CheckLevel } from '../model/checks.ts';
import { type CheckVerdict, failedVerdict, toVerdict } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { canonicalTarget } from '../paging/canonical-target.ts';
import { type RequestedPage, toRequestedPage } from '../paging/requested-page.ts';
import type { Plan } from './plan.ts';
import type { TargetKeys } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';
import { requestRefusal } from './request-refusal.ts';
import { type UndocumentedPolicy, undocumentedVerdict, type UndocumentedVerdict } from './undocumented/verdict.ts';

/** The meaning of a request target, which depends only on the method, the target and the contract. */
export type Target = OperationTarget | UndocumentedTarget;

/** A target that matches an operation in the contract. */
export interface OperationTarget {
  readonly plan: Plan;
  /** Decodes and checks the parameters. */
  readonly admit: () => Admission;
}

/** A target that is not in the contract, and the policy's verdict on it. */
interface UndocumentedTarget {
  readonly plan: undefined;
  readonly verdict: UndocumentedVerdict;
}

/** The parts of a request that determine the meaning of its target. */
export type TargetText = Pick<Arrival, 'method' | 'rawTarget' | 'target' | 'path' | 'query'>;

/** Resolves request targets and remembers some of the results. */
export interface Targets {
  /**
   * Returns the meaning of a target. The result is the same whether or not the target was remembered. Throws if the
   * target is unsafe.
   */
  resolve(arrival: TargetText): Target;
  /** Remembers a target, so that it does not have to be parsed again until its plan is replaced. */
  remember(arrival: TargetText, target: Target): void;
  /** Clears all remembered targets. Call this after a plan is replaced. */
  clear(): void;
  readonly size: number;
}

/** The dependencies of the resolver. */
export interface TargetsParts {
  readonly contract: Pick<Contract, 'match' | 'decodeParameters'>;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly undocumented: UndocumentedPolicy;
  /** The approximate memory limit, in bytes. If it is 0, no targets are remembered. */
  readonly maxBytes: number;
}

// The approximate sizes, in bytes, of an entry, a violation and a query parameter, not counting the strings in them.
const ENTRY_BYTES = 800;
const VIOLATION_BYTES = 500;
const QUERY_PARAMETER_BYTES = 200;

/** Creates the resolver. The least recently used targets are evicted first. */
export function createTargets({ contract, plans, undocumented, maxBytes }: TargetsParts): Targets {
  const memo = new LRUCache<string, Target>({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: (target, rawTarget) => ENTRY_BYTES + rawTarget.length + (target.plan ? bytesOf(target) : 0),
  });

  const read = (arrival: TargetText): Target => {
    const match = contract.match(arrival.path);
    const operation = match?.byMethod.get(arrival.method === 'HEAD' ? 'GET' : arrival.method);
    const plan = operation && plans.get(operation.id);
    if (match === undefined || plan === undefined)
      return { plan: undefined, verdict: undocumentedVerdict(undocumented, arrival, match, contract.match) };
    let admission: Admission | undefined;
    return { plan, admit: () => (admission ??= admit(plan, contract, match, arrival)) };
  };

  return {
    resolve: (arrival) => (arrival.method === 'GET' ? memo.get(arrival.rawTarget) : undefined) ?? read(arrival),
    remember(arrival, target) {
      if (arrival.method !== 'GET' || memo.peek(arrival.rawTarget) === target) return;
      // A target is not remembered if its plan has been replaced in the meantime, or if its parameters could not be
      // decoded.
      if (target.plan !== undefined && plans.get(target.plan.operation.id) !== target.plan) return;
      if (target.plan !== undefined && target.admit().failure !== undefined) return;
      memo.set(arrival.rawTarget, target.plan === undefined ? target : compact(target, contract, arrival));
    },
    clear: () => memo.clear(),
    get size() {
      return memo.size;
    },
  };
}

/** Returns the approximate size, in bytes, of an entry's strings, violations and decoded parameters. */
function bytesOf({ plan, admit: admitted }: OperationTarget): number {
  const { target, requestedPage, violations, values } = admitted();
  const decoded = plan.cache === undefined ? values().query.size * QUERY_PARAMETER_BYTES : 0;
  // The target and the list target count twice, because the cache keys contain them as well.
  const strings = 2 * (target.length + requestedPage.listTarget.length);
  return strings + violations.length * VIOLATION_BYTES + decoded;
}

/**
 * Returns the form in which a target is remembered. Serving a stored response does not require decoded parameters, so
 * the parameters for cacheable pages are discarded. They are decoded again only when needed.
 */
function compact({ plan, admit: admitted }: OperationTarget, contract: TargetsParts['contract'], text: TargetText) {
  const admission = admitted();
  return {
    plan,
    admit: always(plan.cache === undefined ? admission : { ...admission, values: decoder(plan, contract, text) }),
  };
}

// Each of these functions is created in its own scope, because closures that share a scope keep each other's variables
// in memory.
const always = (admission: Admission) => () => admission;

function decoder(plan: Plan, contract: TargetsParts['contract'], { path, query, target }: TargetText) {
  return () => {
    const match = contract.match(path);
    if (match === undefined) throw new Error(`${plan.operation.id} no longer has this path`);
    return admit(plan, contract, match, { path, query, target }).values();
  };
}

/** The result of checking a target's parameters. It depends only on the target and the contract. */
interface Admission {
  readonly values: () => ParameterValues;
  /** The requested page. */
  readonly requestedPage: RequestedPage;
  /** The exact target that will be sent upstream. */
  readonly target: string;
  /** The cache keys for the target, created on demand. */
  readonly keys: TargetKeys;
  /** The verdict of the `requests` check on the parameters. */
  readonly verdict: CheckVerdict;
  readonly violations: readonly Violation[];
  /** The error for a request with invalid parameters if the check is enforced. */
  readonly refusal: GatewayError | undefined;
  /** A decoding error that does not end the request, as in transparent mode. */
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
    // In transparent mode, a decoding error does not end the request.
    const verdict = failedVerdict(checks.requests);
    const values = noValues(match);
    const requestedPage = toRequestedPage(values, original);
    return {
      values: () => values,
      requestedPage,
      target: original,
      keys: noKeys(),
      verdict,
      violations: [],
      refusal: undefined,
      failure,
    };
  }
  const { values, violations, reported } = decoded;
  const target = transparent ? original : targetOf(planned, { path, query }, values);
  return {
    values: () => values,
    requestedPage: toRequestedPage(values, target),
    target,
    keys: noKeys(),
    verdict: verdictOf(checks.requests, violations, reported),
    violations: checks.requests === 'off' ? [] : [...violations, ...reported],
    refusal:
      checks.requests === 'enforce' && violations.length > 0
        ? requestRefusal(operation, parameterCode(violations), violations)
        : undefined,
  };
}

const noKeys = (): TargetKeys => ({ audience: undefined, page: undefined, list: undefined });

/** Returns empty parameter values for a query that could not be parsed. */
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
 * Returns the verdict of the check. If all violations are of kinds that are only counted and never cause a refusal, the
 * outcome is `reported` at every level (docs/rules.md §4).
 */
function verdictOf(level: CheckLevel, violations: readonly Violation[], reported: readonly Violation[]): CheckVerdict {
  const verdict = toVerdict(level, violations);
  return verdict.outcome === 'passed' && reported.length > 0 ? { level, outcome: 'reported' } : verdict;
}

/** Returns the target to send upstream outside `observe` mode. */
export function targetOf(
  planned: PlannedOperation,
  arrival: Pick<Arrival, 'path' | 'query'>,
  values: ParameterValues,
): string {
  return canonicalTarget(arrival.path, arrival.query, {
    page: values.page,
    pageSize: values.pageSize,
    // No page number equals NaN, so `page` is never removed from the target of an operation without pages.
    firstPage: planned.operation.paging?.firstPage ?? Number.NaN,
    knownDefaultPageSize: planned.defaultPageSize,
  });
}

function parameterCode(violations: readonly Violation[]): ErrorCode {
  const [first] = violations;
  if (first?.keyword === 'unknown') return 'unknown_parameter';
  return first?.keyword === 'repeated' ? 'repeated_parameter' : 'invalid_parameter';
}

const SUSPICIOUS = /[%\\;#]|\/\.|[^\x21-\x7e]/;
const ENCODED_SEPARATOR = /%(?:2f|5c)/i;
const NUL = /%00/;

/**
 * Returns the reason why a target is refused in every mode, or undefined if the target is safe. A target is unsafe if
 * it contains a dot segment, a backslash, an encoded separator, NUL, or a byte that is not allowed in a target. Dot
 * segments count even when they are encoded or written with a Tomcat path parameter.
 */
export function unsafeTargetReason(path: string, query: string | undefined): string | undefined {
  if (query !== undefined && (NUL.test(query) || query.includes('#') || /[^\x21-\x7e\x80-\xff]/.test(query)))
    return 'the query contains a NUL or a character that must be percent-encoded';
  if (!path.startsWith('/')) return 'the path must start with a slash';
  if (!SUSPICIOUS.test(path)) return undefined;
  if (path.includes('#')) return 'a fragment cannot be sent in a request target';
  if (NUL.test(path)) return 'the path contains a NUL';
  if (path.includes('\\')) return 'the path contains a backslash';
  if (ENCODED_SEPARATOR.test(path)) return 'the path contains an encoded slash or backslash';
  if (path.split('/').some(isDotSegment)) return 'the path contains a dot segment';
  return undefined;
}

const PATH_PARAMETER = /;|%3b/i;

/**
 * Returns whether a segment is `.` or `..`. Text after a semicolon is ignored, because Tomcat treats `..;x` as `..`.
 */
function isDotSegment(segment: string): boolean {
  const [before = ''] = segment.split(PATH_PARAMETER, 1);
  const name = before.replaceAll(/%2e/gi, '.');
  return name === '.' || name === '..';
}
