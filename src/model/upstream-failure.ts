/** The ways in which an exchange with the upstream can end without a response (rules, 8, last row). */
export type UpstreamFailureKind =
  'refused' | 'reset' | 'truncated' | 'deadline' | 'shed' | 'circuit_open' | 'too_large' | 'aborted';

/** The causes of failed exchanges. Each is an error type of the `Proxy-Status` header (RFC 9209 §2.3). */
export type FailureCause =
  | 'dns_timeout'
  | 'dns_error'
  | 'destination_unavailable'
  | 'destination_ip_unroutable'
  | 'connection_refused'
  | 'connection_terminated'
  | 'connection_timeout'
  | 'connection_read_timeout'
  | 'connection_write_timeout'
  | 'connection_limit_reached'
  | 'tls_protocol_error'
  | 'tls_certificate_error'
  | 'tls_alert_received'
  | 'http_response_incomplete'
  | 'http_response_header_section_size'
  | 'http_response_body_size'
  | 'http_response_transfer_coding'
  | 'http_response_content_coding'
  | 'http_response_timeout'
  | 'http_protocol_error';

/** The cause that is assumed for each kind of failure if no error code indicates a more precise one. */
const BY_KIND: Readonly<Record<Exclude<UpstreamFailureKind, 'aborted'>, FailureCause>> = {
  refused: 'destination_unavailable',
  reset: 'connection_terminated',
  truncated: 'http_response_incomplete',
  deadline: 'http_response_timeout',
  shed: 'connection_limit_reached',
  circuit_open: 'destination_unavailable',
  too_large: 'http_response_body_size',
};

/** The causes that error codes indicate. The first matching pattern decides. */
const BY_CODE: readonly (readonly [RegExp, FailureCause])[] = [
  [/^ETIMEOUT$/, 'dns_timeout'],
  [/^(?:ENOTFOUND|EAI_\w+)$/, 'dns_error'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'destination_ip_unroutable'],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'connection_timeout'],
  [/^UND_ERR_HEADERS_TIMEOUT$/, 'http_response_timeout'],
  [/^UND_ERR_BODY_TIMEOUT$/, 'connection_read_timeout'],
  [/^(?:UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/, 'http_response_header_section_size'],
  [/^HPE_\w+$/, 'http_protocol_error'],
  [/^Z_\w+$/, 'http_response_content_coding'],
  [/^ERR_SSL_\w*ALERT/, 'tls_alert_received'],
  // OpenSSL's verification results, such as CERT_HAS_EXPIRED and UNABLE_TO_VERIFY_LEAF_SIGNATURE.
  [/^(?!ERR_SSL_).*CERT|^(?:CRL_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/, 'tls_certificate_error'],
  [/^(?:EPROTO|ERR_SSL_|ERR_TLS_)/, 'tls_protocol_error'],
];

/** The facts about a failed exchange that appear in the log and in the `Proxy-Status` header. */
export interface FailureFacts {
  readonly cause: FailureCause;
  /** The code of the system, TLS or parser error, for example `CERT_HAS_EXPIRED`. */
  readonly code?: string;
}

/** A failed exchange with the upstream. `retryAfterSeconds` is set if an attempt after that time may succeed. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: UpstreamFailureKind;
  readonly retryAfterSeconds: number | undefined;
  /** The cause of the failure. Undefined if the client disconnected. */
  readonly facts: FailureFacts | undefined;

  constructor(
    kind: UpstreamFailureKind,
    options: { cause?: unknown; retryAfterSeconds?: number; failureCause?: FailureCause | undefined } = {},
  ) {
    super(`upstream exchange failed: ${kind}`, { cause: options.cause });
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.facts = factsOf(kind, options.failureCause, errorCode(options.cause));
  }
}

function factsOf(
  kind: UpstreamFailureKind,
  given: FailureCause | undefined,
  code: string | undefined,
): FailureFacts | undefined {
  if (kind === 'aborted') return undefined;
  // A connection can also be lost before it is established, for example during the TLS handshake.
  const byKind = code === 'ECONNRESET' && kind === 'refused' ? 'connection_terminated' : BY_KIND[kind];
  const cause = given ?? causeOfCode(code) ?? byKind;
  return code === undefined ? { cause } : { cause, code };
}

const causeOfCode = (code: string | undefined) =>
  code === undefined ? undefined : BY_CODE.find(([pattern]) => pattern.test(code))?.[1];

/** Returns an error's code if it looks like a constant, and is therefore safe to log. */
function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(code) ? code : undefined;
}

/** The error for an attempt to verify a credential that failed because the upstream responded with a server error. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
  readonly status: number;

  constructor(status: number) {
    super(`the probe returned status ${status}`);
    this.status = status;
  }
}
