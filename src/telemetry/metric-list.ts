/** A metric as documented and registered: name, type, labels and help text. */
export interface MetricEntry {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** All metrics of Portico. A test compares docs/metrics.md with this list. */
export const METRICS = {
  requests: {
    name: 'portico_http_requests_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Finished requests; status_class is aborted if the client disconnected first.',
  },
  duration: {
    name: 'portico_http_request_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Time from the first byte of a request to the end of the response, in seconds.',
  },
  budget: {
    name: 'portico_error_budget_spent_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that ended with a 5xx status or a broken connection, unless the client caused it.',
  },
  checks: {
    name: 'portico_checks_total',
    type: 'counter',
    labels: ['check', 'outcome'],
    help: 'Verdicts of each check: passed, reported (would have been refused), refused, skipped or failed.',
  },
  violations: {
    name: 'portico_contract_violations_total',
    type: 'counter',
    labels: ['operation', 'direction', 'category', 'accepted'],
    help: 'Contract violations, by category and direction (request or response); accepted is true for violations in the baseline.',
  },
  scans: {
    name: 'portico_response_scans_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Responses whose bytes were scanned: valid if proven valid without parsing, closer if parsed and validated.',
  },
  candidate: {
    name: 'portico_candidate_differences_total',
    type: 'counter',
    labels: ['operation', 'difference'],
    help: 'Violations found only by the shadow contract (newly refused) or only by the current contract (newly accepted).',
  },
  candidateDropped: {
    name: 'portico_candidate_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Requests that were not compared with the shadow contract because too many were waiting.',
  },
  denials: {
    name: 'portico_permission_denials_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that the permission rules deny, whether refused or only reported.',
  },
  missing: {
    name: 'portico_missing_permissions_total',
    type: 'counter',
    labels: ['permission'],
    help: 'Denied requests, by missing permission, group or flag.',
  },
  pageBounds: {
    name: 'portico_page_bound_refusals_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests for an out-of-bounds page or page size, whether refused or only reported.',
  },
  authentication: {
    name: 'portico_authentication_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Requests whose credential was missing or wrong, was blocked after too many attempts, or could not be verified.',
  },
  redactions: {
    name: 'portico_redacted_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Responses from which private fields were removed.',
  },
  legacyAddresses: {
    name: 'portico_legacy_address_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: "Upstream responses that contain the upstream's own absolute address.",
  },
  cache: {
    name: 'portico_cache_requests_total',
    type: 'counter',
    labels: ['operation', 'result'],
    help: 'Requests for cacheable operations: hit, miss, stale, bypass or coalesced.',
  },
  cacheEntries: { name: 'portico_cache_entries', type: 'gauge', labels: [], help: 'Stored responses.' },
  cacheBytes: {
    name: 'portico_cache_bytes',
    type: 'gauge',
    labels: [],
    help: 'Total size of stored responses in bytes.',
  },
  exchange: {
    name: 'portico_upstream_exchange_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Duration of an exchange with the upstream in seconds, including retries and waiting.',
  },
  answers: {
    name: 'portico_upstream_answers_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Upstream responses, by status class.',
  },
  failures: {
    name: 'portico_upstream_failures_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Exchanges with the upstream that failed without a response, by kind of failure.',
  },
  inFlight: {
    name: 'portico_upstream_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Exchanges with the upstream that are in progress.',
  },
  queued: {
    name: 'portico_upstream_queued',
    type: 'gauge',
    labels: [],
    help: 'Exchanges waiting for a free slot.',
  },
  streams: {
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
  circuit: {
    name: 'portico_upstream_circuit_open',
    type: 'gauge',
    labels: [],
    help: '1 while requests to the upstream are paused after failures, otherwise 0.',
  },
  errors: {
    name: 'portico_errors_total',
    type: 'counter',
    labels: ['code'],
    help: 'Errors that Portico returned, by code.',
  },
  ledgerEntries: {
    name: 'portico_ledger_entries',
    type: 'gauge',
    labels: [],
    help: 'Distinct violations in the ledger.',
  },
  upstreamRetries: {
    name: 'portico_upstream_retries_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests to repeat after a reused connection was lost: succeeded, failed, or refused by the retry budget.',
  },
  limitsExceeded: {
    name: 'portico_upstream_limits_exceeded_total',
    type: 'counter',
    labels: [],
    help: 'Requests in observe mode that the upstream limits would have refused.',
  },
  ledgerDropped: {
    name: 'portico_ledger_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Records that the ledger lost because it was full or could not be written.',
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
  operationEnforcement: {
    name: 'portico_operation_enforcement',
    type: 'gauge',
    labels: ['operation', 'check'],
    help: 'Current level of a check for an operation: 0 is off, 1 is report, 2 is enforce.',
  },
  ladderDemotions: {
    name: 'portico_ladder_demotions_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Demotions of responses from enforce to report because the check refused too many responses.',
  },
  ladderDemoted: {
    name: 'portico_ladder_demoted',
    type: 'gauge',
    labels: ['operation'],
    help: '1 while the responses check of the operation is demoted, otherwise 0.',
  },
  ladderPromotions: {
    name: 'portico_ladder_promotions_total',
    type: 'counter',
    labels: ['check'],
    help: 'Automatic promotions of a check from report to enforce.',
  },
  refusalAlerts: {
    name: 'portico_refusal_alerts_total',
    type: 'counter',
    labels: ['check'],
    help: 'Time windows in which a check refused an unusual share of requests. The check stays enforced.',
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
  reloads: {
    name: 'portico_reloads_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Reloads of the configuration: applied, or refused because the new configuration has errors.',
  },
  lastReload: {
    name: 'portico_reload_last_success_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time at which the configuration in use was loaded, by the start or by a reload, in epoch seconds.',
  },
  configuration: {
    name: 'portico_configuration_info',
    type: 'gauge',
    labels: ['hash'],
    help: 'Always 1; the label is a digest of the configuration in use, without secrets, and of the files that it names.',
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
} as const satisfies Record<string, MetricEntry>;
