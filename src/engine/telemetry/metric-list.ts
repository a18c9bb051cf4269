import { JUDGED_NAMES } from '../model/checks.ts';
import { RELEASE_DRIFT, VIOLATION_CATEGORIES } from '../model/violation.ts';
import {
  AUTHENTICATION_REASONS,
  CACHE_RESULTS,
  SHADOW_DIFFERENCES,
  FAILURE_KINDS,
  OUTCOMES,
  SCAN_OUTCOMES,
  STATUS_CLASSES,
  STORE_REFUSALS,
} from './label-values.ts';

/** A metric's name, type, labels and help text, used both to register and to document the metric. */
export interface MetricEntry {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** A metric that counts events. All its label values are known in advance. */
interface CountedEntry extends MetricEntry {
  readonly type: 'counter' | 'histogram';
  /** Returns the values of each label, in the order of `labels`. */
  readonly values: (known: KnownValues) => readonly (readonly string[])[];
  /** The upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

/** A metric that is read on each scrape. */
interface ReadEntry extends MetricEntry {
  readonly type: 'counter' | 'gauge';
  /** Returns the values of each label, in the order of `labels`, for the series that exist while nothing is read. */
  readonly values?: () => readonly (readonly string[])[];
}

/** The label values that the contract and the configuration determine. */
export interface KnownValues {
  /** The ids of the operations with series of their own, and the labels of the others. */
  readonly operations: readonly string[];
  /** Those of `operations` whose responses can be stored. */
  readonly cacheable: readonly string[];
  /** Those of `operations` that have pages. */
  readonly paged: readonly string[];
  /** Those of `operations` whose responses have private fields. */
  readonly redacted: readonly string[];
  readonly permissions: readonly string[];
  /** The codes of errors. */
  readonly errors: readonly string[];
}

/** The categories that a violation in a message can have. */
const COUNTED_CATEGORIES = VIOLATION_CATEGORIES.filter((category) => category !== RELEASE_DRIFT);

/** The classes of statuses that the translation of errors can change, and the statuses that it changes them to. */
const CHANGED_FROM = ['2xx', '3xx', '4xx', '5xx'];
const CHANGED_TO = ['401', '403', '502'];

/**
 * Upper bounds for request durations, in seconds. A cache hit takes less than the first bound. A request that reaches
 * the upstream's total deadline can take longer than the last bound.
 */
const REQUEST_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * Upper bounds for upstream durations, in seconds. The first bound is higher than the one for requests, because no
 * exchange is as fast as a cache hit.
 */
const UPSTREAM_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The metrics that count events, most of them finished requests. `request-metrics.ts` increments them. */
export const COUNTED_METRICS = {
  requests: {
    name: 'portico_http_requests_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Finished requests; status_class is aborted if the client disconnected first.',
    values: ({ operations }) => [operations, STATUS_CLASSES],
  },
  duration: {
    name: 'portico_http_request_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Time from the first byte of a request to the end of the response, in seconds.',
    values: ({ operations }) => [operations],
    buckets: REQUEST_BUCKETS,
  },
  budget: {
    name: 'portico_error_budget_spent_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that ended with a 5xx status or a broken connection, unless the client caused the failure.',
    values: ({ operations }) => [operations],
  },
  checks: {
    name: 'portico_checks_total',
    type: 'counter',
    labels: ['check', 'outcome'],
    help: 'Verdicts of each check: passed, reported (would have been refused), refused, skipped or failed.',
    values: () => [JUDGED_NAMES, OUTCOMES],
  },
  violations: {
    name: 'portico_contract_violations_total',
    type: 'counter',
    labels: ['operation', 'direction', 'category', 'accepted'],
    help: 'Contract violations, by category and direction (request or response); accepted is true for violations in the baseline.',
    values: ({ operations }) => [operations, ['request', 'response'], COUNTED_CATEGORIES, ['false', 'true']],
  },
  scans: {
    name: 'portico_response_scans_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Responses whose bytes were scanned: valid if proven valid without parsing, closer if parsed and validated.',
    values: () => [SCAN_OUTCOMES],
  },
  statusChanges: {
    name: 'portico_error_status_changes_total',
    type: 'counter',
    labels: ['operation', 'from', 'to'],
    help: 'Upstream errors whose status changes, or would change, because errors are normalized, by status class and new status.',
    values: ({ operations }) => [operations, CHANGED_FROM, CHANGED_TO],
  },
  shadowDifferences: {
    name: 'portico_candidate_differences_total',
    type: 'counter',
    labels: ['operation', 'difference'],
    help: 'Violations found only by the shadow contract (newly refused) or only by the current contract (newly accepted).',
    values: ({ operations }) => [operations, SHADOW_DIFFERENCES],
  },
  denials: {
    name: 'portico_permission_denials_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that the permission rules deny, whether refused or only reported.',
    values: ({ operations }) => [operations],
  },
  missing: {
    name: 'portico_missing_permissions_total',
    type: 'counter',
    labels: ['permission'],
    help: 'Denied requests, by missing permission, group or flag.',
    values: ({ permissions }) => [permissions],
  },
  pageBounds: {
    name: 'portico_page_bound_refusals_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests for an out-of-bounds page or page size, whether refused or only reported.',
    values: ({ paged }) => [paged],
  },
  authentication: {
    name: 'portico_authentication_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Requests whose credential was missing or wrong, was blocked after too many attempts, or could not be verified.',
    values: () => [AUTHENTICATION_REASONS],
  },
  redactions: {
    name: 'portico_redacted_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Responses from which private fields were removed.',
    values: ({ redacted }) => [redacted],
  },
  legacyAddresses: {
    name: 'portico_legacy_address_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: "Upstream responses that contain the upstream's own absolute address.",
    values: ({ operations }) => [operations],
  },
  droppedHeaders: {
    name: 'portico_dropped_header_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Upstream responses with a header that clients do not receive or, in observe mode, would not receive.',
    values: ({ operations }) => [operations],
  },
  cache: {
    name: 'portico_cache_requests_total',
    type: 'counter',
    labels: ['operation', 'result'],
    help: 'Requests for cacheable operations: hit, miss, stale, bypass or coalesced.',
    values: ({ cacheable }) => [cacheable, CACHE_RESULTS],
  },
  notStored: {
    name: 'portico_cache_not_stored_total',
    type: 'counter',
    labels: ['operation', 'reason'],
    help: 'Responses of cacheable operations that were fetched but not stored, by reason.',
    values: ({ cacheable }) => [cacheable, STORE_REFUSALS],
  },
  exchange: {
    name: 'portico_upstream_exchange_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Duration of an exchange with the upstream in seconds, including retries and waiting.',
    values: ({ operations }) => [operations],
    buckets: UPSTREAM_BUCKETS,
  },
  upstreamResponses: {
    name: 'portico_upstream_answers_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Upstream responses, by status class.',
    values: ({ operations }) => [operations, STATUS_CLASSES.filter((name) => name !== 'aborted')],
  },
  failures: {
    name: 'portico_upstream_failures_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Exchanges with the upstream that failed without a response, by kind of failure.',
    values: () => [FAILURE_KINDS],
  },
  errors: {
    name: 'portico_errors_total',
    type: 'counter',
    labels: ['code'],
    help: 'Errors that Portico returned, by code.',
    values: ({ errors }) => [errors],
  },
  reloads: {
    name: 'portico_reloads_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Reloads of the configuration: applied, or refused because the new configuration has errors.',
    values: () => [['applied', 'refused']],
  },
} as const satisfies Record<string, CountedEntry>;

/** The metrics that are read on each scrape. `Metrics.watch` connects them to their sources, by key. */
export const READ_METRICS = {
  cacheEntries: { name: 'portico_cache_entries', type: 'gauge', labels: [], help: 'Stored responses.' },
  cacheBytes: {
    name: 'portico_cache_bytes',
    type: 'gauge',
    labels: [],
    help: 'Total size of stored responses in bytes.',
  },
  upstreamInFlight: {
    name: 'portico_upstream_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Exchanges with the upstream that are in progress.',
  },
  upstreamQueued: {
    name: 'portico_upstream_queued',
    type: 'gauge',
    labels: [],
    help: 'Exchanges waiting for a free slot.',
  },
  upstreamStreams: {
    name: 'portico_upstream_streams',
    type: 'gauge',
    labels: [],
    help: 'Bodies being streamed to or from clients.',
  },
  upstreamHealthy: {
    name: 'portico_upstream_healthy',
    type: 'gauge',
    labels: [],
    help: '1 while /upstreamz returns 200, otherwise 0.',
  },
  addressHealthy: {
    name: 'portico_upstream_address_healthy',
    type: 'gauge',
    labels: ['address'],
    help: '1 while requests are sent to this address of the upstream, otherwise 0.',
  },
  addressRequests: {
    name: 'portico_upstream_address_requests_total',
    type: 'counter',
    labels: ['address', 'outcome'],
    help: 'Requests to each address of the upstream: succeeded, or failed with a 5xx status or without a response.',
  },
  upstreamCircuitOpen: {
    name: 'portico_upstream_circuit_open',
    type: 'gauge',
    labels: [],
    help: '1 while requests to the upstream are paused after failures, otherwise 0.',
  },
  upstreamRetries: {
    name: 'portico_upstream_retries_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Retries of safe requests whose connection was lost: succeeded, failed, or refused by the retry budget.',
    values: () => [['succeeded', 'failed', 'refused']],
  },
  limitsExceeded: {
    name: 'portico_upstream_limits_exceeded_total',
    type: 'counter',
    labels: [],
    help: 'Requests in observe mode that the upstream limits would have refused.',
  },
  mode: {
    name: 'portico_mode_info',
    type: 'gauge',
    labels: ['mode'],
    help: '1 for the configured mode, 0 for the others.',
  },
  enforcement: {
    name: 'portico_enforcement',
    type: 'gauge',
    labels: ['check', 'level'],
    help: '1 for the global level of each check, 0 for the other levels.',
  },
  enforced: {
    name: 'portico_enforced_checks',
    type: 'gauge',
    labels: [],
    help: 'Number of globally enforced checks; 0 means that nothing is enforced.',
  },
  ready: {
    name: 'portico_ready',
    type: 'gauge',
    labels: [],
    help: '1 while /readyz returns 200, otherwise 0.',
  },
  lastReload: {
    name: 'portico_reload_last_success_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time at which the configuration in use was loaded, at startup or by a reload, in epoch seconds.',
  },
  configuration: {
    name: 'portico_configuration_info',
    type: 'gauge',
    labels: ['hash'],
    help: 'Always 1; the label is a digest of the configuration in use, without secrets or locations, and of the files that it names.',
  },
  certificateNotAfter: {
    name: 'portico_tls_certificate_not_after_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: "When the public side's TLS certificate expires, in epoch seconds; 0 without TLS.",
  },
  certificateOutdated: {
    name: 'portico_tls_certificate_outdated',
    type: 'gauge',
    labels: [],
    help: '1 while the files of the TLS certificate have changed but cannot be used, otherwise 0.',
  },
  failedHandshakes: {
    name: 'portico_tls_handshake_failures_total',
    type: 'counter',
    labels: [],
    help: 'Connections to the public side that were closed because their TLS handshake failed or took too long.',
  },
  series: {
    name: 'portico_metric_series',
    type: 'gauge',
    labels: [],
    help: "Number of Portico's own series. Only a reload that adds operations or permissions changes it.",
  },
  folded: {
    name: 'portico_metric_folded_operations',
    type: 'gauge',
    labels: [],
    help: 'Operations that are counted together as folded because the number of series is limited.',
  },
  scrapeSeconds: {
    name: 'portico_scrape_duration_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time taken to write the previous scrape, in seconds.',
  },
  scrapeBytes: {
    name: 'portico_scrape_bytes',
    type: 'gauge',
    labels: [],
    help: 'Size of the previous scrape before compression, in bytes.',
  },
  build: {
    name: 'portico_build_info',
    type: 'gauge',
    labels: ['version', 'contract', 'node', 'release'],
    help: "Always 1; the labels contain the versions of Portico, the contract and Node, and the upstream's release label.",
  },
} as const satisfies Record<string, ReadEntry>;

/** The metrics about the levels of operations. */
export const LEVEL_METRICS = {
  operationEnforcement: {
    name: 'portico_operation_enforcement',
    type: 'gauge',
    labels: ['operation', 'check'],
    help: 'Current level of a check for an operation: 0 is off, 1 is report, 2 is enforce.',
  },
} as const satisfies Record<string, MetricEntry>;

/** The metrics for state shared by gateways. */
export const REDIS_METRICS = {
  redisUp: {
    name: 'portico_redis_up',
    type: 'gauge',
    labels: [],
    help: '1 while Redis replies, otherwise 0. Metrics about Redis exist only if Redis is configured.',
  },
  unsynced: {
    name: 'portico_redis_unsynced_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time since this gateway was last known to have applied all changes by other gateways, in seconds.',
  },
  redisCommands: {
    name: 'portico_redis_commands_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Commands for Redis: ok, refused by the server, timeout, failed, or skipped because Redis was not available.',
  },
  redisDuration: {
    name: 'portico_redis_command_duration_seconds',
    type: 'histogram',
    labels: ['outcome'],
    help: 'Duration of the commands that were sent to Redis, in seconds.',
  },
  sharedChanges: {
    name: 'portico_shared_changes_total',
    type: 'counter',
    labels: ['kind', 'direction'],
    help: 'Shared changes that this gateway has applied, by kind and direction (sent by this gateway or received).',
  },
  fleetInstances: {
    name: 'portico_fleet_instances',
    type: 'gauge',
    labels: [],
    help: 'Gateways that use the same Redis server and prefix, including this one; 0 while Redis is unavailable.',
  },
  fleetVariants: {
    name: 'portico_fleet_variants',
    type: 'gauge',
    labels: ['property'],
    help: 'Number of distinct values of a property (version, contract, configuration or baseline) in the fleet; 1 if all gateways agree.',
  },
  sharedCache: {
    name: 'portico_shared_cache_requests_total',
    type: 'counter',
    labels: ['result'],
    help: 'Lookups of pages in Redis: hit, miss, invalid (purged, damaged or too old), forged (not sealed by this fleet), away (not sent) or error.',
  },
  sharedWaits: {
    name: 'portico_shared_cache_waits_total',
    type: 'counter',
    labels: [],
    help: 'Requests that waited while another gateway fetched their page.',
  },
  sharedAvoided: {
    name: 'portico_shared_cache_fetches_avoided_total',
    type: 'counter',
    labels: [],
    help: 'Requests that received the page they were waiting for, so they did not have to fetch it.',
  },
} as const satisfies Record<string, MetricEntry>;

/** All metrics of the engine, which docs/metrics.md lists (`tools/pages`). */
export const METRICS = { ...COUNTED_METRICS, ...READ_METRICS, ...LEVEL_METRICS, ...REDIS_METRICS } satisfies Record<
  string,
  MetricEntry
>;
