/**
 * The error codes of all replies that Portico itself creates, each with its status and title (RFC 9457). Codes never
 * change, because clients may depend on them. A test compares this list with docs/errors.md.
 * docs/adding-code.md says which file finds which cause.
 */
export const ERRORS = {
  malformed_request: { status: 400, title: 'Malformed request' },
  unsafe_path: { status: 400, title: 'Unsafe path' },
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  unknown_parameter: { status: 400, title: 'Unknown parameter' },
  repeated_parameter: { status: 400, title: 'Repeated parameter' },
  invalid_body: { status: 400, title: 'Invalid request body' },
  page_out_of_bounds: { status: 400, title: 'Page out of bounds' },
  page_size_out_of_bounds: { status: 400, title: 'Page size out of bounds' },
  credentials_required: { status: 401, title: 'Credentials required' },
  credentials_refused: { status: 401, title: 'Credentials refused' },
  permission_denied: { status: 403, title: 'Permission denied' },
  not_in_contract: { status: 404, title: 'Not in the contract' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  body_too_large: { status: 413, title: 'Request body too large' },
  target_too_long: { status: 414, title: 'Request target too long' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  too_many_attempts: { status: 429, title: 'Too many failed attempts' },
  headers_too_large: { status: 431, title: 'Request header fields too large' },
  upstream_bad_request: { status: 400, title: 'Refused by the upstream' },
  upstream_unauthorized: { status: 401, title: 'Credentials refused by the upstream' },
  upstream_permission_denied: { status: 403, title: 'Permission denied by the upstream' },
  upstream_not_found: { status: 404, title: 'Not found by the upstream' },
  upstream_conflict: { status: 409, title: 'Conflict at the upstream' },
  upstream_unprocessable: { status: 422, title: 'Unprocessable by the upstream' },
  upstream_rate_limited: { status: 429, title: 'Rate limited by the upstream' },
  client_closed: { status: 499, title: 'The client disconnected before the reply' },
  internal_error: { status: 500, title: 'Internal error' },
  unknown_transfer_coding: { status: 501, title: 'Unknown transfer coding' },
  needs_caller_credential: { status: 501, title: 'Caller credential required' },
  upstream_credentials_refused: { status: 502, title: 'Service credentials refused by the upstream' },
  upstream_html: { status: 502, title: 'HTML page from the upstream' },
  upstream_redirect: { status: 502, title: 'Redirect from the upstream' },
  upstream_error: { status: 502, title: 'Error from the upstream' },
  upstream_error_in_success: { status: 502, title: 'Error in a successful upstream response' },
  upstream_invalid_response: { status: 502, title: 'Upstream response violates the contract' },
  upstream_response_too_large: { status: 502, title: 'Upstream response too large' },
  upstream_response_unchecked: { status: 502, title: 'Upstream response too large to check' },
  upstream_refused: { status: 502, title: 'Connection refused by the upstream' },
  upstream_reset: { status: 502, title: 'Connection broken by the upstream' },
  upstream_unavailable: { status: 503, title: 'Upstream unavailable' },
  upstream_overloaded: { status: 503, title: 'Too many requests waiting for the upstream' },
  upstream_page_failing: { status: 503, title: 'Page keeps failing; requests paused' },
  upstream_circuit_open: { status: 503, title: 'Upstream failing; requests paused' },
  operation_disabled: { status: 503, title: 'Operation disabled by an operator' },
  verification_unavailable: { status: 503, title: 'Credentials cannot be verified' },
  upstream_timeout: { status: 504, title: 'Upstream timeout' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

/** The code of an error reply. */
export type ErrorCode = keyof typeof ERRORS;

/** An error that a feature adds to the catalogue. */
export interface ErrorKind {
  readonly code: string;
  readonly status: number;
  readonly title: string;
}

/**
 * The codes for requests that fail authentication. They are the labels of the metric that counts these requests.
 */
export const AUTHENTICATION_CODES = [
  'credentials_required',
  'credentials_refused',
  'too_many_attempts',
  'verification_unavailable',
] as const satisfies readonly ErrorCode[];
