import { type ErrorCode, ERRORS } from '../errors/catalogue.ts';
import { type Checks, JUDGED_NAMES, type JudgedName } from '../model/checks.ts';
import { isOutage } from '../model/ledger-entry.ts';
import type { ModeName } from '../model/modes.ts';
import type { Operation } from '../model/operation.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import { RELEASE_DRIFT, type Violation, VIOLATION_CATEGORIES } from '../model/violation.ts';
import {
  AUTHENTICATION_REASONS,
  CACHE_RESULTS,
  CANDIDATE_DIFFERENCES,
  type CounterFamily,
  createCounterFamily,
  createHistogramFamily,
  FAILURE_KINDS,
  FOLDED,
  type HistogramFamily,
  OTHER,
  OUTCOMES,
  REQUEST_BUCKETS,
  SCAN_OUTCOMES,
  STATUS_CLASSES,
  STORE_REFUSALS,
  statusClass,
  UNDOCUMENTED,
  UPSTREAM_BUCKETS,
} from './metric-families.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';
import type { TrafficCounts } from '../../features/console/traffic-history.ts';

/** The values, known at startup, that determine the label sets. */
export interface MetricsOptions {
  readonly operations: readonly Pick<Operation, 'id' | 'paging' | 'cacheability' | 'privateFields'>[];
  /** The names of the permissions, groups and flags whose absence can cause a denial. */
  readonly permissions: readonly string[];
  /** Returns whether the baseline accepts a violation. If this function is undefined, no violation is accepted. */
  readonly isAccepted?: (trace: Trace, violation: Violation) => boolean;
  readonly mode: ModeName;
  /** The global levels. Operations can override them. */
  readonly checks: Checks;
  readonly version: string;
  readonly contractVersion: string;
  /** The codes of the errors that features add to the catalogue. */
  readonly featureErrors?: readonly string[];
  /** The upstream's release label (`release` in the configuration). */
  readonly release: string;
  /** A digest of the configuration in use. */
  readonly configurationHash?: () => string;
  /** The time when the configuration was loaded, in epoch milliseconds. */
  readonly loadedAt?: number;
  /** The upper bounds, in seconds, that replace the default bounds of all histograms. */
  readonly buckets?: readonly number[];
  /**
   * True if exemplars are recorded. An exemplar is the most recent sampled trace in a bucket, and is visible only in
   * the OpenMetrics format.
   */
  readonly exemplars?: boolean;
  /** The maximum number of series. Operations beyond this limit share the `folded` series. */
  readonly maxSeries?: number;
}

/** The counters and histograms that are updated whenever a trace finishes. */
interface RequestMetrics {
  readonly record: (trace: Trace) => void;
  readonly series: number;
  /** Returns the request metrics in the exposition format, with or without exemplars. */
  text(withExemplars?: boolean): string;
  /** The counts behind the traffic history. `relabel` replaces this object. */
  readonly traffic: TrafficCounts;
  /** Recreates the series for new label values. A series that already existed continues from its count. */
  relabel(options: MetricsOptions, ownSeries: number): void;
  /** All counters and histograms, always in the same order. */
  readonly families: readonly (CounterFamily | HistogramFamily)[];
}

/** The categories that a violation in a message can have. */
const COUNTED = VIOLATION_CATEGORIES.filter((category) => category !== RELEASE_DRIFT);

const failed = (verdict: { readonly outcome: string } | undefined) =>
  verdict !== undefined && (verdict.outcome === 'refused' || verdict.outcome === 'reported');

/**
 * Creates all counters and histograms, and the function that updates them. Operations with index `ownSeries` or higher
 * are counted as `folded`.
 */
export function createRequestMetrics(options: MetricsOptions, ownSeries = options.operations.length): RequestMetrics {
  const { isAccepted = () => false } = options;
  let current = createFamilies(options, ownSeries);
  let { families } = current;
  // The caller reads the verdict from the trace, because looking up a property by a variable name is slow.
  const count = (check: JudgedName, verdict: CheckVerdict | undefined) => {
    if (verdict !== undefined) families.checks.inc(check, verdict.outcome);
  };
  const countStatusChange = (operation: string, { errors, upstream }: Trace) => {
    if (errors?.changedTo !== undefined)
      families.statusChanges.inc(operation, statusClass(upstream?.status), String(errors.changedTo));
  };

  const record = (trace: Trace): void => {
    const operation = current.labelOf(trace.operation);
    // A background refresh or comparison is neither a client request nor a cache lookup.
    const isClientRequest = trace.background !== true;
    if (isClientRequest) {
      families.requests.inc(operation, statusClass(trace.status));
      families.duration.observe(operation, trace.seconds ?? Number.NaN, trace.traceparent, trace.startedAt);
      if (spendsErrorBudget(trace)) families.budget.inc(operation);
    }
    count('authentication', trace.authentication);
    count('requests', trace.requests);
    count('responses', trace.responses);
    if (trace.scan !== undefined) families.scans.inc(trace.scan);
    count('permissions', trace.permissions);
    count('pageBounds', trace.pageBounds);
    count('undocumented', trace.undocumented);
    count('errors', trace.errors);
    countStatusChange(operation, trace);
    for (const violation of trace.violations) {
      // A difference found by the shadow contract is not a violation of the live contract.
      if (violation.candidate !== undefined) families.shadowDifferences.inc(operation, violation.candidate);
      // A response with a 5xx status means that the upstream fails. The upstream metrics count it.
      else if (!isOutage({ check: violation.check, status: statusOf(trace, violation) }))
        families.violations.inc(
          operation,
          violation.direction,
          violation.category,
          String(isAccepted(trace, violation)),
        );
    }
    if (failed(trace.permissions)) {
      families.denials.inc(operation);
      for (const name of missingFrom(trace)) families.missing.inc(name);
    }
    if (failed(trace.pageBounds)) families.pageBounds.inc(operation);
    // A verification that is still pending is not a failure, but one that was impossible is.
    const isUnverified = failed(trace.authentication) || trace.authentication?.outcome === 'failed';
    if (isUnverified && trace.authentication?.reason !== 'verification_pending')
      families.authentication.inc(trace.authentication?.reason ?? trace.error ?? OTHER);
    if (trace.redacted !== undefined && trace.redacted.length > 0) families.redactions.inc(operation);
    if (trace.legacyAddress === true) families.legacyAddresses.inc(operation);
    if (trace.droppedHeaders !== undefined) families.droppedHeaders.inc(operation);
    if (isClientRequest && trace.cache !== undefined) families.cache.inc(operation, trace.cache.status);
    if (trace.cache?.notStored !== undefined) families.notStored.inc(operation, trace.cache.notStored);
    if (trace.upstream !== undefined && trace.comparison !== true) {
      const { seconds, traceparent, startedAt } = trace.upstream;
      families.exchange.observe(operation, seconds, traceparent, startedAt);
      if (trace.upstream.status === undefined) families.failures.inc(trace.upstream.shape);
      else families.upstreamResponses.inc(operation, statusClass(trace.upstream.status));
    }
    if (isClientRequest && trace.error !== undefined) families.errors.inc(trace.error);
  };
  return {
    record,
    get series() {
      return current.all.reduce((sum, family) => sum + family.series, 0);
    },
    get traffic() {
      return current.traffic;
    },
    get families() {
      return current.all;
    },
    text: (withExemplars) => current.all.map((family) => family.text(withExemplars)).join('\n'),
    relabel(next, nextOwnSeries) {
      const before = current;
      current = createFamilies(next, nextOwnSeries);
      ({ families } = current);
      before.all.forEach((family, index) => current.all[index]?.add(family));
    },
  };
}

/** Creates the counters and histograms, which start at 0. */
function createFamilies(options: MetricsOptions, ownSeries: number) {
  const own = options.operations.slice(0, ownSeries);
  const folded = new Set(options.operations.slice(ownSeries).map(({ id }) => id));
  const rest = folded.size > 0 ? [FOLDED] : [];
  const idsWhere = (wanted: (operation: MetricsOptions['operations'][number]) => boolean) => [
    ...own.filter(wanted).map((operation) => operation.id),
    ...rest,
  ];
  const operations = [...idsWhere(() => true), UNDOCUMENTED];
  const all: (CounterFamily | HistogramFamily)[] = [];
  const counter = (entry: MetricEntry, ...axes: (readonly string[])[]): CounterFamily => {
    const family = createCounterFamily(entry, axes);
    all.push(family);
    return family;
  };
  const histogram = (entry: MetricEntry, buckets: readonly number[]) => {
    const family = createHistogramFamily(entry, operations, options.buckets ?? buckets, options.exemplars);
    all.push(family);
    return family;
  };

  const cacheable = idsWhere((operation) => operation.cacheability !== undefined);
  // When you add a family here, also update it in `record`.
  const families = {
    requests: counter(METRICS.requests, operations, STATUS_CLASSES),
    duration: histogram(METRICS.duration, REQUEST_BUCKETS),
    budget: counter(METRICS.budget, operations),
    checks: counter(METRICS.checks, JUDGED_NAMES, OUTCOMES),
    violations: counter(METRICS.violations, operations, ['request', 'response'], COUNTED, ['false', 'true']),
    statusChanges: counter(METRICS.statusChanges, operations, CHANGED_FROM, CHANGED_TO),
    scans: counter(METRICS.scans, SCAN_OUTCOMES),
    shadowDifferences: counter(METRICS.candidate, operations, CANDIDATE_DIFFERENCES),
    denials: counter(METRICS.denials, operations),
    missing: counter(METRICS.missing, [...new Set(options.permissions), OTHER]),
    pageBounds: counter(
      METRICS.pageBounds,
      idsWhere((operation) => operation.paging !== undefined),
    ),
    authentication: counter(METRICS.authentication, AUTHENTICATION_REASONS),
    redactions: counter(
      METRICS.redactions,
      idsWhere(({ privateFields }) => privateFields !== undefined),
    ),
    legacyAddresses: counter(METRICS.legacyAddresses, operations),
    droppedHeaders: counter(METRICS.droppedHeaders, operations),
    cache: counter(METRICS.cache, cacheable, CACHE_RESULTS),
    notStored: counter(METRICS.notStored, cacheable, STORE_REFUSALS),
    exchange: histogram(METRICS.exchange, UPSTREAM_BUCKETS),
    upstreamResponses: counter(
      METRICS.answers,
      operations,
      STATUS_CLASSES.filter((name) => name !== 'aborted'),
    ),
    failures: counter(METRICS.failures, FAILURE_KINDS),
    errors: counter(METRICS.errors, [...Object.keys(ERRORS), ...(options.featureErrors ?? []), OTHER]),
  };

  const known = new Set(own.map(({ id }) => id));
  const labelOf = (id: string | undefined) => {
    if (id === undefined) return UNDOCUMENTED;
    if (known.has(id)) return id;
    return folded.has(id) ? FOLDED : UNDOCUMENTED;
  };
  const traffic: TrafficCounts = {
    operations,
    cachedOperations: cacheable,
    failureKinds: FAILURE_KINDS,
    buckets: { duration: families.duration.buckets, exchange: families.exchange.buckets },
    counts: {
      requests: families.requests.counts,
      duration: families.duration.counts,
      cache: families.cache.counts,
      exchange: families.exchange.counts,
      failures: families.failures.counts,
    },
  };
  return { families, all, labelOf, traffic };
}

/** The status of the upstream's response. Undefined for a violation in the request. */
const statusOf = ({ upstream }: Trace, { direction }: Violation) =>
  direction === 'response' ? upstream?.status : undefined;

/** The classes of statuses that the translation of errors can change, and the statuses that it changes them to. */
const CHANGED_FROM = ['2xx', '3xx', '4xx', '5xx'];
const CHANGED_TO = ['401', '403', '502'];

const UNNAMED = [OTHER];

function missingFrom({ permissions }: Trace): readonly string[] {
  const decision = permissions?.decision;
  return decision?.verdict === 'denied' ? decision.missing : UNNAMED;
}

/**
 * The errors with a status of 500 or above that are caused by the client: the request has a transfer coding that
 * Portico does not support, or lacks the credential that the operation requires.
 */
const CLIENT_ERRORS: ReadonlySet<string> = new Set<ErrorCode>(['unknown_transfer_coding', 'needs_caller_credential']);

/**
 * Returns true if a request counts against the availability target, that is, if its status was 5xx or its connection
 * was broken because the upstream failed. Client errors and requests that the client aborted do not count.
 *
 * If the upstream itself reported no 5xx status, for example because it redirected an anonymous caller to its login
 * page, a 502 that replaces its response does not count either, because any client can cause such responses. The
 * exception is a refused service account, which no client can cause.
 */
export function spendsErrorBudget({
  status,
  error = '',
  upstream,
  replacedStatus = 500,
}: Pick<Trace, 'status' | 'error' | 'upstream' | 'replacedStatus'>): boolean {
  if (CLIENT_ERRORS.has(error)) return false;
  if (replacedStatus < 500 && error !== 'upstream_credentials_refused') return false;
  if (status !== undefined && status >= 500) return true;
  const withoutResponse = status === undefined || status === 0;
  return withoutResponse && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}
