/** One metric as it is documented and registered: its name, type, labels and help text. */
export interface MetricEntry {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Every metric of Portico's own. A test compares docs/metrics.md with this list. */
export const METRICS = {
  requests: {
    name: 'portico_http_requests_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: 'Requests answered; status_class is aborted when the client left first.',
  },
  duration: {
    name: 'portico_http_request_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Seconds from the first byte of a request to the end of its answer.',
  },
  budget: {
    name: 'portico_error_budget_spent_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests answered with 5xx, or broken off because the upstream failed.',
  },
  checks: {
    name: 'portico_checks_total',
    type: 'counter',
    labels: ['check', 'outcome'],
    help: 'What each check said: passed, reported (would have been refused), refused or skipped.',
  },
  violations: {
    name: 'portico_contract_violations_total',
    type: 'counter',
    labels: ['operation', 'direction', 'category'],
    help: 'Differences between the contract and what was sent (request) or answered (response).',
  },
  candidate: {
    name: 'portico_candidate_differences_total',
    type: 'counter',
    labels: ['operation', 'difference'],
    help: 'What the candidate contract would newly refuse, or newly accept.',
  },
  candidateDropped: {
    name: 'portico_candidate_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Requests that the candidate contract did not judge, because too many were waiting.',
  },
  denials: {
    name: 'portico_permission_denials_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests that the permission rules deny, refused or only reported.',
  },
  missing: {
    name: 'portico_missing_permissions_total',
    type: 'counter',
    labels: ['permission'],
    help: 'Denied requests by each permission, group or flag that would have helped.',
  },
  pageBounds: {
    name: 'portico_page_bound_refusals_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Requests for a page or page size out of bounds, refused or only reported.',
  },
  authentication: {
    name: 'portico_authentication_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Requests whose credential was missing, refused, limited or could not be verified.',
  },
  redactions: {
    name: 'portico_redacted_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Answers from which private fields were taken out for the caller.',
  },
  legacyAddresses: {
    name: 'portico_legacy_address_answers_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Answers of the upstream that name it by an absolute address.',
  },
  cache: {
    name: 'portico_cache_requests_total',
    type: 'counter',
    labels: ['operation', 'result'],
    help: 'Requests that met the cache: hit, miss, stale, bypass or coalesced.',
  },
  cacheEntries: { name: 'portico_cache_entries', type: 'gauge', labels: [], help: 'Pages kept in the cache.' },
  cacheBytes: { name: 'portico_cache_bytes', type: 'gauge', labels: [], help: 'Bytes of pages kept in the cache.' },
  exchange: {
    name: 'portico_upstream_exchange_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Seconds of an exchange with the upstream, attempts and waiting included.',
  },
  answers: {
    name: 'portico_upstream_answers_total',
    type: 'counter',
    labels: ['operation', 'status_class'],
    help: "Answers of the upstream by the class of the upstream's own status.",
  },
  failures: {
    name: 'portico_upstream_failures_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Exchanges with the upstream that failed without an answer.',
  },
  inFlight: {
    name: 'portico_upstream_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Exchanges with the upstream that are running now.',
  },
  queued: {
    name: 'portico_upstream_queued',
    type: 'gauge',
    labels: [],
    help: 'Exchanges that wait for their turn at the upstream.',
  },
  streams: {
    name: 'portico_upstream_streams',
    type: 'gauge',
    labels: [],
    help: 'Bodies that are streamed to or from clients now.',
  },
  circuit: {
    name: 'portico_upstream_circuit_open',
    type: 'gauge',
    labels: [],
    help: '1 while calls to the upstream are paused after failures, else 0.',
  },
  errors: {
    name: 'portico_errors_total',
    type: 'counter',
    labels: ['code'],
    help: "Portico's own error answers by their stable code.",
  },
  ledgerEntries: {
    name: 'portico_ledger_entries',
    type: 'gauge',
    labels: [],
    help: 'Distinct violations kept in the ledger.',
  },
  ledgerDropped: {
    name: 'portico_ledger_dropped_total',
    type: 'counter',
    labels: [],
    help: 'What the ledger lost because it was full or could not be written.',
  },
  mode: {
    name: 'portico_mode_info',
    type: 'gauge',
    labels: ['mode'],
    help: '1 for the mode that was chosen, 0 for the others.',
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
    help: 'The level of a check that holds for an operation now: 0 off, 1 report, 2 enforce.',
  },
  ladderDemotions: {
    name: 'portico_ladder_demotions_total',
    type: 'counter',
    labels: ['operation'],
    help: 'How often responses fell back from enforce to report because enforcing failed too many answers.',
  },
  ladderDemoted: {
    name: 'portico_ladder_demoted',
    type: 'gauge',
    labels: ['operation'],
    help: '1 while responses only report because enforcing failed too many answers, else 0.',
  },
  ladderPromotions: {
    name: 'portico_ladder_promotions_total',
    type: 'counter',
    labels: ['check'],
    help: 'How often a check of an operation was enforced by itself, having had nothing to refuse.',
  },
  refusalAlerts: {
    name: 'portico_refusal_alerts_total',
    type: 'counter',
    labels: ['check'],
    help: 'Windows in which a check refused an unusual share of the requests of an operation; it stays enforced.',
  },
  enforced: {
    name: 'portico_enforced_checks',
    type: 'gauge',
    labels: [],
    help: 'Number of checks that are enforced globally; 0 says that nothing is enforced yet.',
  },
  ready: {
    name: 'portico_ready',
    type: 'gauge',
    labels: [],
    help: '1 while readyz answers 200, else 0.',
  },
  series: {
    name: 'portico_metric_series',
    type: 'gauge',
    labels: [],
    help: "Number of Portico's own series, fixed from the start.",
  },
  folded: {
    name: 'portico_metric_folded_operations',
    type: 'gauge',
    labels: [],
    help: 'Operations counted together as folded, because series of their own would be too many.',
  },
  scrapeSeconds: {
    name: 'portico_scrape_duration_seconds',
    type: 'gauge',
    labels: [],
    help: 'Seconds that the scrape before this one took to write.',
  },
  scrapeBytes: {
    name: 'portico_scrape_bytes',
    type: 'gauge',
    labels: [],
    help: 'Bytes of the scrape before this one, before compression.',
  },
  build: {
    name: 'portico_build_info',
    type: 'gauge',
    labels: ['version', 'contract', 'node'],
    help: 'Always 1; the labels name the running version, the contract version and the version of Node.',
  },
} as const satisfies Record<string, MetricEntry>;
