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

/** The causes that error codes indicate. The first matching pattern determines the cause. */
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

/** The details of a failed exchange that appear in the log and in the `Proxy-Status` header. */
export interface FailureFacts {
  readonly cause: FailureCause;
  /** The code of a system, TLS or parser error, for example `CERT_HAS_EXPIRED`. */
  readonly code?: string;
}

/** Returns the cause that an error code indicates, or undefined for other codes. */
export const causeOfCode = (code: string | undefined) =>
  code === undefined ? undefined : BY_CODE.find(([pattern]) => pattern.test(code))?.[1];

/** Returns an error's code if it looks like a constant and is therefore safe to log. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(code) ? code : undefined;
}
