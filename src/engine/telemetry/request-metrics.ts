import { type ErrorCode, ERRORS } from '../errors/catalogue.ts';
import type { Checks, JudgedName } from '../model/checks.ts';
import { isOutage } from '../model/ledger-entry.ts';
import type { ModeName } from '../model/modes.ts';
import type { Operation } from '../model/operation.ts';
import { type CheckVerdict, eachVerdict, type Trace } from '../model/trace.ts';
import { createTraceSlot } from '../model/trace-slot.ts';
import type { Violation } from '../model/violation.ts';
import { FAILURE_KINDS, FOLDED, OTHER, statusClass, UNDOCUMENTED } from './label-values.ts';
import { COUNTED_METRICS, type KnownValues } from './metric-list.ts';
import { createStoredCounter, type StoredCounter } from './stored-counter.ts';
import { createStoredHistogram, histogramSeries, type StoredHistogram } from './stored-histogram.ts';
import type { StoredMetric } from './stored-metric.ts';
import type { TrafficCounts } from './traffic-counts.ts';

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

/** The counters and histograms of events. All but the counter of reloads are updated by finished traces. */
interface RequestMetrics {
  readonly record: (trace: Trace) => void;
  /** Counts a reload of the configuration. */
  readonly reloaded: (outcome: 'applied' | 'refused') => void;
  readonly all: readonly StoredMetric[];
  /** The counts behind the traffic history. `relabel` replaces this object. */
  readonly traffic: TrafficCounts;
  /** Returns the number of operations that have no separate series (see `maxSeries`). */
  readonly foldedOperations: () => number;
  /** Replaces the label values. A series that already existed continues from its count. */
  relabel(options: MetricsOptions, maxSeries: number): void;
}

const failed = (verdict: { readonly outcome: string } | undefined) =>
  verdict !== undefined && (verdict.outcome === 'refused' || verdict.outcome === 'reported');

/** The stored form of each metric in the list. */
type Counted = {
  readonly [Key in keyof typeof COUNTED_METRICS]: (typeof COUNTED_METRICS)[Key]['type'] extends 'histogram'
    ? StoredHistogram
    : StoredCounter;
};

/**
 * Creates all counters and histograms in `COUNTED_METRICS`, and the function that updates them. If they had more than
 * `maxSeries` series, the last operations are counted together as `folded`.
 */
export function createRequestMetrics(options: MetricsOptions, maxSeries: number): RequestMetrics {
  const { isAccepted = () => false } = options;
  let labels = labelsFor(options, maxSeries);
  const counters = createCounted(labels.known, options);
  const all = Object.values(counters);
  let traffic = trafficOf(counters, labels.known);
  const countVerdict = (check: JudgedName, { outcome }: CheckVerdict) => counters.checks.inc(check, outcome);
  const countStatusChange = (operation: string, { errors, upstream }: Trace) => {
    if (errors?.changedTo !== undefined)
      counters.statusChanges.inc(operation, statusClass(upstream?.status), String(errors.changedTo));
  };

  const record = (trace: Trace): void => {
    const operation = labelOf(labels, trace.operation);
    // A background refresh or comparison is neither a client request nor a cache lookup.
    const isClientRequest = trace.background !== true;
    if (isClientRequest) {
      counters.requests.inc(operation, statusClass(trace.status));
      counters.duration.observe(operation, trace.seconds ?? Number.NaN, trace.traceparent, trace.startedAt);
      if (spendsErrorBudget(trace)) counters.budget.inc(operation);
    }
    eachVerdict(trace, countVerdict);
    if (trace.scan !== undefined) counters.scans.inc(trace.scan);
    countStatusChange(operation, trace);
    for (const violation of trace.violations) {
      // A difference found by the shadow contract is not a violation of the live contract.
      if (violation.candidate !== undefined) counters.shadowDifferences.inc(operation, violation.candidate);
      // A response with a 5xx status means that the upstream fails. The upstream metrics count it.
      else if (!isOutage({ check: violation.check, status: statusOf(trace, violation) }))
        counters.violations.inc(
          operation,
          violation.direction,
          violation.category,
          String(isAccepted(trace, violation)),
        );
    }
    if (failed(trace.permissions)) {
      counters.denials.inc(operation);
      for (const name of missingFrom(trace)) counters.missing.inc(name);
    }
    if (failed(trace.pageBounds)) counters.pageBounds.inc(operation);
    // A verification that is still pending is not a failure, but one that was impossible is.
    const isUnverified = failed(trace.authentication) || trace.authentication?.outcome === 'failed';
    if (isUnverified && trace.authentication?.reason !== 'verification_pending')
      counters.authentication.inc(trace.authentication?.reason ?? trace.error ?? OTHER);
    if (trace.redacted !== undefined && trace.redacted.length > 0) counters.redactions.inc(operation);
    if (trace.legacyAddress === true) counters.legacyAddresses.inc(operation);
    if (trace.droppedHeaders !== undefined) counters.droppedHeaders.inc(operation);
    if (isClientRequest && trace.cache !== undefined) counters.cache.inc(operation, trace.cache.status);
    if (trace.cache?.notStored !== undefined) counters.notStored.inc(operation, trace.cache.notStored);
    if (trace.upstream !== undefined && trace.comparison !== true) {
      const { seconds, traceparent, startedAt } = trace.upstream;
      counters.exchange.observe(operation, seconds, traceparent, startedAt);
      if (trace.upstream.status === undefined) counters.failures.inc(trace.upstream.shape);
      else counters.upstreamResponses.inc(operation, statusClass(trace.upstream.status));
    }
    if (isClientRequest && trace.error !== undefined) counters.errors.inc(trace.error);
  };
  return {
    record,
    reloaded: (outcome) => counters.reloads.inc(outcome),
    all,
    get traffic() {
      return traffic;
    },
    foldedOperations: () => labels.folded.size,
    relabel(next, room) {
      labels = labelsFor(next, room);
      for (const [key, { values }] of Object.entries(COUNTED_METRICS)) {
        const counter = counters[key as keyof Counted];
        const axes = values(labels.known);
        if ('observe' in counter) counter.relabel(axes[0] ?? [], next.exemplars);
        else counter.relabel(axes);
      }
      traffic = trafficOf(counters, labels.known);
    },
  };
}

/** Creates the counters and histograms, which start at 0. */
function createCounted(known: KnownValues, { buckets, exemplars }: MetricsOptions): Counted {
  const created = Object.entries(COUNTED_METRICS).map(([key, entry]) => {
    const values = entry.values(known);
    if (entry.type === 'counter') return [key, createStoredCounter(entry, values)];
    return [key, createStoredHistogram(entry, values[0] ?? [], buckets ?? entry.buckets, exemplars)];
  });
  return Object.fromEntries(created) as Counted;
}

/** Which label values there are, and which operations are counted together. */
interface Labels {
  readonly known: KnownValues;
  readonly own: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
}

/** Gives as many operations their own series as possible. All other operations are counted together. */
function labelsFor(options: MetricsOptions, maxSeries: number): Labels {
  const total = options.operations.length;
  const seriesWith = (own: number) => countedSeries(knownValues(options, own), options.buckets);
  const all = seriesWith(total);
  let own = total;
  if (all > maxSeries) {
    const shared = seriesWith(0);
    own = Math.max(0, Math.min(total - 1, Math.floor((maxSeries - shared) / ((all - shared) / total))));
    while (own > 0 && seriesWith(own) > maxSeries) own -= 1;
  }
  const ids = options.operations.map(({ id }) => id);
  return { known: knownValues(options, own), own: new Set(ids.slice(0, own)), folded: new Set(ids.slice(own)) };
}

/** Returns how many series there are if labels have these values. */
function countedSeries(known: KnownValues, buckets: readonly number[] | undefined): number {
  return Object.values(COUNTED_METRICS).reduce((sum, entry) => {
    const values = entry.values(known);
    if (entry.type === 'histogram') return sum + histogramSeries(values[0] ?? [], buckets ?? entry.buckets);
    return sum + values.reduce((product, { length }) => product * length, 1);
  }, 0);
}

/** Returns the label values if only the first `own` operations have their own series. */
function knownValues({ operations, permissions, featureErrors = [] }: MetricsOptions, own: number): KnownValues {
  const rest = own < operations.length ? [FOLDED] : [];
  const idsWhere = (wanted: (operation: MetricsOptions['operations'][number]) => boolean) => [
    ...operations
      .slice(0, own)
      .filter(wanted)
      .map(({ id }) => id),
    ...rest,
  ];
  return {
    operations: [...idsWhere(() => true), UNDOCUMENTED],
    cacheable: idsWhere(({ cacheability }) => cacheability !== undefined),
    paged: idsWhere(({ paging }) => paging !== undefined),
    redacted: idsWhere(({ privateFields }) => privateFields !== undefined),
    permissions: [...new Set(permissions), OTHER],
    errors: [...Object.keys(ERRORS), ...featureErrors, OTHER],
  };
}

function trafficOf(
  { requests, duration, cache, exchange, failures }: Counted,
  { operations, cacheable }: KnownValues,
): TrafficCounts {
  return {
    operations,
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
}

/** Returns the value of the `operation` label for a request. */
function labelOf({ own, folded }: Labels, id: string | undefined): string {
  if (id === undefined) return UNDOCUMENTED;
  if (own.has(id)) return id;
  return folded.has(id) ? FOLDED : UNDOCUMENTED;
}

/** The status of the upstream's response. Undefined for a violation in the request. */
const statusOf = ({ upstream }: Trace, { direction }: Violation) =>
  direction === 'response' ? upstream?.status : undefined;

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
 * Set to true in the trace of a request that a feature refuses as planned and announced, such as during a brown-out. Its
 * status may be 5xx, but it does not count against the availability target.
 */
export const PLANNED_REFUSAL = createTraceSlot<boolean>();

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
  slots,
}: Pick<Trace, 'status' | 'error' | 'upstream' | 'replacedStatus'> & Partial<Pick<Trace, 'slots'>>): boolean {
  if (CLIENT_ERRORS.has(error) || PLANNED_REFUSAL.get({ slots }) === true) return false;
  if (replacedStatus < 500 && error !== 'upstream_credentials_refused') return false;
  if (status !== undefined && status >= 500) return true;
  const withoutResponse = status === undefined || status === 0;
  return withoutResponse && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}
