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
    help: 'Finished requests; status_class is aborted when the client disconnected first.',
  },
  duration: {
    name: 'portico_http_request_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Seconds from the first byte of a request to the end of the reply.',
  },
  budget: {
    name: 'portico_error_budget_spent_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that ended with status 5xx or were aborted because the upstream failed.',
  },
  checks: {
    name: 'portico_checks_total',
    type: 'counter',
    labels: ['check', 'outcome'],
    help: 'Outcomes of each check: passed, reported (would have been refused), refused or skipped.',
  },
  violations: {
    name: 'portico_contract_violations_total',
    type: 'counter',
    labels: ['operation', 'direction', 'category'],
    help: 'Differences between the contract and a message, by direction (request or response).',
  },
  scans: {
    name: 'portico_response_scans_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Scans of response bytes: valid (proven, not parsed) or closer (parsed and validated).',
  },
  candidate: {
    name: 'portico_candidate_differences_total',
    type: 'counter',
    labels: ['operation', 'difference'],
    help: 'Differences of the shadow contract: what it would newly refuse or newly accept.',
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
    help: 'Denied requests by each permission, group or flag that would have allowed them.',
  },
  pageBounds: {
    name: 'portico_page_bound_refusals_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests for a page or page size out of bounds, whether refused or only reported.',
  },
  authentication: {
    name: 'portico_authentication_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Requests whose credential was missing, refused, rate-limited or could not be verified.',
  },
  redactions: {
    name: 'portico_redacted_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Responses from which private fields were removed for the caller.',
  },
  legacyAddresses: {
    name: 'portico_legacy_address_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Upstream responses that contain an absolute address of the upstream.',
  },
  cache: {
    name: 'portico_cache_requests_total',
    type: 'counter',
    labels: ['operation', 'result'],
    help: 'Cache lookups by result: hit, miss, stale, bypass or coalesced.',
  },
  cacheEntries: { name: 'portico_cache_entries', type: 'gauge', labels: [], help: 'Stored responses in the cache.' },
  cacheBytes: {
    name: 'portico_cache_bytes',
    type: 'gauge',
    labels: [],
    help: 'Bytes of stored responses in the cache.',
  },
  exchange: {
    name: 'portico_upstream_exchange_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Seconds of an exchange with the upstream, including all attempts and waiting.',
  },
  answers: {
    name: 'portico_upstream_answers_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Upstream responses by the class of their original status.',
  },
  failures: {
    name: 'portico_upstream_failures_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Exchanges with the upstream that failed without a response.',
  },
  inFlight: {
    name: 'portico_upstream_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Exchanges with the upstream in progress.',
  },
  queued: {
    name: 'portico_upstream_queued',
    type: 'gauge',
    labels: [],
    help: 'Exchanges waiting in the queue for the upstream.',
  },
  streams: {
    name: 'portico_upstream_streams',
    type: 'gauge',
    labels: [],
    help: 'Bodies that are being streamed to or from clients.',
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
    help: "Portico's own error replies by stable code.",
  },
  ledgerEntries: {
    name: 'portico_ledger_entries',
    type: 'gauge',
    labels: [],
    help: 'Distinct violations stored in the ledger.',
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
    help: 'The current level of a check for an operation: 0 off, 1 report, 2 enforce.',
  },
  ladderDemotions: {
    name: 'portico_ladder_demotions_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Demotions of the check responses from enforce to report because it refused too many responses.',
  },
  ladderDemoted: {
    name: 'portico_ladder_demoted',
    type: 'gauge',
    labels: ['operation'],
    help: '1 while the check responses is demoted to report because it refused too many responses, otherwise 0.',
  },
  ladderPromotions: {
    name: 'portico_ladder_promotions_total',
    type: 'counter',
    labels: ['check'],
    help: 'Automatic promotions of a check of an operation to enforce, because it would have refused no requests.',
  },
  refusalAlerts: {
    name: 'portico_refusal_alerts_total',
    type: 'counter',
    labels: ['check'],
    help: "Windows in which a check refused an unusual share of an operation's requests; the check stays enforced.",
  },
  enforced: {
    name: 'portico_enforced_checks',
    type: 'gauge',
    labels: [],
    help: 'Number of checks that are enforced globally; 0 means that nothing is enforced yet.',
  },
  ready: {
    name: 'portico_ready',
    type: 'gauge',
    labels: [],
    help: '1 while readyz returns 200, otherwise 0.',
  },
  series: {
    name: 'portico_metric_series',
    type: 'gauge',
    labels: [],
    help: "Number of Portico's own series, fixed at startup.",
  },
  folded: {
    name: 'portico_metric_folded_operations',
    type: 'gauge',
    labels: [],
    help: 'Operations counted together as folded, to limit the number of series.',
  },
  scrapeSeconds: {
    name: 'portico_scrape_duration_seconds',
    type: 'gauge',
    labels: [],
    help: 'Seconds that the previous scrape took.',
  },
  scrapeBytes: {
    name: 'portico_scrape_bytes',
    type: 'gauge',
    labels: [],
    help: 'Bytes of the previous scrape before compression.',
  },
  build: {
    name: 'portico_build_info',
    type: 'gauge',
    labels: ['version', 'contract', 'node'],
    help: 'Always 1; the labels contain the versions of Portico, the contract and Node.',
  },
} as const satisfies Record<string, MetricEntry>;
