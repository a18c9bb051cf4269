import type { Registry } from 'prom-client';
import { ERRORS } from '../errors/catalogue.ts';
import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { UpstreamFailureKind } from '../model/upstream-failure.ts';
import { VIOLATION_CATEGORIES } from '../model/violation.ts';
import { createCounterFamily, type CounterFamily } from './counter-family.ts';
import { createHistogramFamily } from './histogram-family.ts';
import { METRICS, type MetricEntry } from './metric-list.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { STATUS_CLASSES, statusClass } from './status-class.ts';

/** The value of the label `operation` for everything outside the contract. */
export const UNDOCUMENTED = 'undocumented';

const OUTCOMES = ['passed', 'reported', 'refused', 'skipped'];
const RESULTS = ['hit', 'miss', 'stale', 'coalesced', 'bypass'];
const AUTHENTICATION_REASONS = [
  'credentials_required',
  'credentials_refused',
  'too_many_attempts',
  'verification_unavailable',
  'not_basic',
  'other',
];
const FAILURE_KINDS = {
  refused: true,
  reset: true,
  truncated: true,
  deadline: true,
  shed: true,
  circuit_open: true,
  too_large: true,
  aborted: true,
} satisfies Record<UpstreamFailureKind, true>;

/** Everything that is counted from finished traces. */
export interface TraceCounters {
  record(trace: Trace): void;
  readonly series: number;
}

const failed = (verdict: { readonly outcome: string } | undefined) =>
  verdict !== undefined && (verdict.outcome === 'refused' || verdict.outcome === 'reported');

/** Registers all counters and histograms and compiles the one function that feeds them. */
export function createTraceCounters(registry: Registry, options: MetricsOptions): TraceCounters {
  const idsWhere = (wanted: (operation: MetricsOptions['operations'][number]) => boolean) =>
    options.operations.filter(wanted).map((operation) => operation.id);
  const ids = idsWhere(() => true);
  const all = [...ids, UNDOCUMENTED];
  const families: { readonly series: number }[] = [];
  const counter = (entry: MetricEntry, ...axes: (readonly string[])[]): CounterFamily => {
    const family = createCounterFamily(registry, entry, axes);
    families.push(family);
    return family;
  };
  const histogram = (entry: MetricEntry) => {
    const family = createHistogramFamily(registry, entry, all, options.buckets);
    families.push(family);
    return family;
  };

  const requests = counter(METRICS.requests, all, STATUS_CLASSES);
  const duration = histogram(METRICS.duration);
  const checks = counter(METRICS.checks, CHECK_NAMES, OUTCOMES);
  const violations = counter(METRICS.violations, all, ['request', 'response'], VIOLATION_CATEGORIES);
  const denials = counter(METRICS.denials, all);
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
  const cache = counter(
    METRICS.cache,
    idsWhere((operation) => operation.cacheability !== undefined),
    RESULTS,
  );
  const exchange = histogram(METRICS.exchange);
  const answers = counter(
    METRICS.answers,
    all,
    STATUS_CLASSES.filter((name) => name !== 'aborted'),
  );
  const failures = counter(METRICS.failures, [...Object.keys(FAILURE_KINDS), 'other']);
  const errors = counter(METRICS.errors, [...Object.keys(ERRORS), 'other']);

  const known = new Set(ids);
  // Each slot by its name in the source: looked up by a name that changes, none of them would be quick.
  const count = (check: CheckName, verdict: CheckVerdict | undefined) => {
    if (verdict !== undefined) checks.inc(check, verdict.outcome);
  };

  const record = (trace: Trace): void => {
    const operation = trace.operation !== undefined && known.has(trace.operation) ? trace.operation : UNDOCUMENTED;
    // A refresh or a comparison that no client waits for is no request, and did not meet the cache for anybody.
    const asked = trace.background !== true;
    if (asked) {
      requests.inc(operation, statusClass(trace.status));
      duration.observe(operation, trace.seconds ?? Number.NaN);
    }
    count('authentication', trace.authentication);
    count('requests', trace.requests);
    count('responses', trace.responses);
    count('permissions', trace.permissions);
    count('pageBounds', trace.pageBounds);
    count('undocumented', trace.undocumented);
    for (const violation of trace.violations) violations.inc(operation, violation.direction, violation.category);
    if (failed(trace.permissions)) denials.inc(operation);
    if (failed(trace.pageBounds)) pageBounds.inc(operation);
    // A credential whose verification still runs has not failed.
    if (failed(trace.authentication) && trace.authentication?.reason !== 'verification_pending')
      authentication.inc(trace.authentication?.reason ?? trace.error ?? 'other');
    if (trace.redacted !== undefined && trace.redacted.length > 0) redactions.inc(operation);
    if (trace.legacyAddress === true) legacyAddresses.inc(operation);
    if (asked && trace.cache !== undefined) cache.inc(operation, trace.cache.status);
    if (trace.upstream !== undefined) {
      exchange.observe(operation, trace.upstream.seconds);
      if (trace.upstream.status === undefined) failures.inc(trace.upstream.shape);
      else answers.inc(operation, statusClass(trace.upstream.status));
    }
    if (asked && trace.error !== undefined) errors.inc(trace.error);
  };
  return { record, series: families.reduce((sum, family) => sum + family.series, 0) };
}
