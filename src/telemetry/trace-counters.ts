import { ERRORS } from '../errors/catalogue.ts';
import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES } from '../model/violation.ts';
import {
  AUTHENTICATION_REASONS,
  CACHE_RESULTS,
  CANDIDATE_DIFFERENCES,
  type CounterFamily,
  createCounterFamily,
  createHistogramFamily,
  FAILURE_KINDS,
  FOLDED,
  OTHER,
  OUTCOMES,
  REQUEST_BUCKETS,
  SCAN_OUTCOMES,
  STATUS_CLASSES,
  statusClass,
  UNDOCUMENTED,
  UPSTREAM_BUCKETS,
} from './metric-families.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';
import type { MetricsOptions } from './metrics-options.ts';
import type { TrafficCounts } from './traffic-history.ts';

/** The counters and histograms that finished traces update. */
interface TraceCounters {
  readonly record: (trace: Trace) => void;
  readonly series: number;
  /** Returns these metrics in the exposition format. */
  text(): string;
  /** The counts behind the traffic history. */
  readonly traffic: TrafficCounts;
}

const failed = (verdict: { readonly outcome: string } | undefined) =>
  verdict !== undefined && (verdict.outcome === 'refused' || verdict.outcome === 'reported');

/**
 * Creates all counters and histograms, and the function that updates them. Operations from index `ownSeries` on are
 * counted as `folded`.
 */
export function createTraceCounters(options: MetricsOptions, ownSeries = options.operations.length): TraceCounters {
  const { isAccepted = () => false } = options;
  const own = options.operations.slice(0, ownSeries);
  const folded = new Set(options.operations.slice(ownSeries).map(({ id }) => id));
  const rest = folded.size > 0 ? [FOLDED] : [];
  const idsWhere = (wanted: (operation: MetricsOptions['operations'][number]) => boolean) => [
    ...own.filter(wanted).map((operation) => operation.id),
    ...rest,
  ];
  const all = [...idsWhere(() => true), UNDOCUMENTED];
  const families: Pick<CounterFamily, 'series' | 'text'>[] = [];
  const counter = (entry: MetricEntry, ...axes: (readonly string[])[]): CounterFamily => {
    const family = createCounterFamily(entry, axes);
    families.push(family);
    return family;
  };
  const histogram = (entry: MetricEntry, buckets: readonly number[]) => {
    const family = createHistogramFamily(entry, all, options.buckets ?? buckets);
    families.push(family);
    return family;
  };

  const requests = counter(METRICS.requests, all, STATUS_CLASSES);
  const duration = histogram(METRICS.duration, REQUEST_BUCKETS);
  const budget = counter(METRICS.budget, all);
  const checks = counter(METRICS.checks, CHECK_NAMES, OUTCOMES);
  const violations = counter(METRICS.violations, all, ['request', 'response'], VIOLATION_CATEGORIES, ['false', 'true']);
  const scans = counter(METRICS.scans, SCAN_OUTCOMES);
  const shadowDifferences = counter(METRICS.candidate, all, CANDIDATE_DIFFERENCES);
  const denials = counter(METRICS.denials, all);
  const missing = counter(METRICS.missing, [...new Set(options.permissions), OTHER]);
  const pageBounds = counter(
    METRICS.pageBounds,
    idsWhere((operation) => operation.paging !== undefined),
  );
  const authentication = counter(METRICS.authentication, AUTHENTICATION_REASONS);
  const redactions = counter(
    METRICS.redactions,
    idsWhere((operation) => operation.carriesPrivateFields),
  );
  const legacyAddresses = counter(METRICS.legacyAddresses, all);
  const cacheable = idsWhere((operation) => operation.cacheability !== undefined);
  const cache = counter(METRICS.cache, cacheable, CACHE_RESULTS);
  const exchange = histogram(METRICS.exchange, UPSTREAM_BUCKETS);
  const upstreamResponses = counter(
    METRICS.answers,
    all,
    STATUS_CLASSES.filter((name) => name !== 'aborted'),
  );
  const failures = counter(METRICS.failures, FAILURE_KINDS);
  const errors = counter(METRICS.errors, [...Object.keys(ERRORS), OTHER]);

  const known = new Set(own.map(({ id }) => id));
  const labelOf = (id: string | undefined) => {
    if (id === undefined) return UNDOCUMENTED;
    if (known.has(id)) return id;
    return folded.has(id) ? FOLDED : UNDOCUMENTED;
  };
  // Each slot is read through a fixed property name because lookups through a variable name are slow.
  const count = (check: CheckName, verdict: CheckVerdict | undefined) => {
    if (verdict !== undefined) checks.inc(check, verdict.outcome);
  };

  const record = (trace: Trace): void => {
    const operation = labelOf(trace.operation);
    // A background refresh or comparison is neither a client request nor a cache lookup.
    const isClientRequest = trace.background !== true;
    if (isClientRequest) {
      requests.inc(operation, statusClass(trace.status));
      duration.observe(operation, trace.seconds ?? Number.NaN);
      if (spendsErrorBudget(trace)) budget.inc(operation);
    }
    count('authentication', trace.authentication);
    count('requests', trace.requests);
    count('responses', trace.responses);
    if (trace.scan !== undefined) scans.inc(trace.scan);
    count('permissions', trace.permissions);
    count('pageBounds', trace.pageBounds);
    count('undocumented', trace.undocumented);
    for (const violation of trace.violations) {
      // A violation that only the shadow contract found is not a violation of the live contract.
      if (violation.candidate !== undefined) shadowDifferences.inc(operation, violation.candidate);
      else violations.inc(operation, violation.direction, violation.category, String(isAccepted(trace, violation)));
    }
    if (failed(trace.permissions)) {
      denials.inc(operation);
      for (const name of missingFrom(trace)) missing.inc(name);
    }
    if (failed(trace.pageBounds)) pageBounds.inc(operation);
    // A verification that is still pending is not a failure.
    if (failed(trace.authentication) && trace.authentication?.reason !== 'verification_pending')
      authentication.inc(trace.authentication?.reason ?? trace.error ?? OTHER);
    if (trace.redacted !== undefined && trace.redacted.length > 0) redactions.inc(operation);
    if (trace.legacyAddress === true) legacyAddresses.inc(operation);
    if (isClientRequest && trace.cache !== undefined) cache.inc(operation, trace.cache.status);
    if (trace.upstream !== undefined) {
      exchange.observe(operation, trace.upstream.seconds);
      if (trace.upstream.status === undefined) failures.inc(trace.upstream.shape);
      else upstreamResponses.inc(operation, statusClass(trace.upstream.status));
    }
    if (isClientRequest && trace.error !== undefined) errors.inc(trace.error);
  };
  const traffic: TrafficCounts = {
    operations: all,
    cachedOperations: cacheable,
    failureKinds: FAILURE_KINDS,
    buckets: { duration: duration.buckets, exchange: exchange.buckets },
    counts: {
      requests: requests.counts,
      duration: duration.counts,
      cache: cache.counts,
      exchange: exchange.counts,
      failures: failures.counts,
    },
  };
  return {
    record,
    series: families.reduce((sum, family) => sum + family.series, 0),
    traffic,
    text: () => families.map((family) => family.text()).join('\n'),
  };
}

const UNNAMED = [OTHER];

function missingFrom({ permissions }: Trace): readonly string[] {
  const decision = permissions?.decision;
  return decision?.verdict === 'denied' ? decision.missing : UNNAMED;
}

/**
 * Returns true if a request counts against the availability target because its status was 5xx, or because its
 * connection broke when the upstream failed. Client errors and requests that the client aborted do not count.
 */
export function spendsErrorBudget({ status, error, upstream }: Pick<Trace, 'status' | 'error' | 'upstream'>): boolean {
  // The only status of 500 or above that is a client error.
  if (error === 'unknown_transfer_coding') return false;
  if (status !== undefined && status >= 500) return true;
  const withoutResponse = status === undefined || status === 0;
  return withoutResponse && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}
