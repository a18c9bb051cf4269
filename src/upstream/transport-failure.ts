import { errors } from 'undici';
import type { ErrorCode } from '../errors/catalogue.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import {
  UpstreamFailure,
  type UpstreamFailureKind,
  type FailureCause,
  type FailureFacts,
} from '../model/upstream-failure.ts';

/** How far an exchange had progressed when it failed. */
export type ExchangePhase = 'connecting' | 'waiting' | 'body';

const DEADLINE_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const ABORTED_CODES = new Set([
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  // Used when the reader of the body stops reading.
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const BY_PHASE: Readonly<Record<ExchangePhase, UpstreamFailureKind>> = {
  connecting: 'refused',
  waiting: 'reset',
  body: 'truncated',
};

/**
 * Converts an error from a socket, undici or `node:http` to an `UpstreamFailure`. An existing `UpstreamFailure` is
 * returned unchanged.
 */
export function toTransportFailure(error: unknown, phase: ExchangePhase): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Most of the parser's errors have no code.
  const failureCause = error instanceof errors.HTTPParserError && code === '' ? 'http_protocol_error' : undefined;
  return new UpstreamFailure(kindOf(code, phase), { cause: error, failureCause });
}

function kindOf(code: string, phase: ExchangePhase): UpstreamFailureKind {
  if (DEADLINE_CODES.has(code)) return 'deadline';
  if (ABORTED_CODES.has(code)) return 'aborted';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return 'too_large';
  return BY_PHASE[phase];
}

/** The error for a kind of failure. The seconds are the value of `Retry-After` if the failure does not contain one. */
type ErrorParts = readonly [code: ErrorCode, text: string, retryAfterSeconds: number | undefined];
const BY_KIND: Readonly<Record<UpstreamFailureKind, ErrorParts>> = {
  refused: ['upstream_refused', 'The upstream cannot be reached.', undefined],
  reset: ['upstream_reset', 'The connection to the upstream was lost.', undefined],
  truncated: ['upstream_reset', 'The connection to the upstream was lost during the response.', undefined],
  deadline: ['upstream_timeout', 'The upstream did not respond in time.', undefined],
  shed: ['upstream_overloaded', 'Too many requests are waiting for the upstream.', 1],
  circuit_open: ['upstream_circuit_open', 'The upstream keeps failing; requests to it are paused.', 1],
  too_large: ['upstream_response_too_large', 'The upstream response is too large.', undefined],
  // No client receives this error. The code distinguishes it from real failures in the log and the metrics.
  aborted: ['client_closed', 'The client disconnected before the upstream responded.', undefined],
};

/** Returns a sentence that describes a kind of failure to clients and in reports. */
export const failureText = (kind: UpstreamFailureKind): string => BY_KIND[kind][1];

/** Returns the error for a transport failure, which is the same in every mode (rules, 8, last row). */
export function toGatewayError(failure: UpstreamFailure): GatewayError {
  const [code, text, retryAfterSeconds] = BY_KIND[failure.kind];
  const seconds = failure.retryAfterSeconds ?? retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return new GatewayError(code, text, { headers, cause: failure });
}

/** The usual explanation for each cause that an operator can fix. */
const BY_CAUSE: Partial<Readonly<Record<FailureCause, string>>> = {
  dns_timeout: 'the host name cannot be resolved; check the URL and the DNS of this machine',
  dns_error: 'the host name cannot be resolved; check the URL and the DNS of this machine',
  destination_ip_unroutable: 'there is no route to the server; check the URL and the network',
  connection_refused: 'the server does not accept connections on this port; check the port and whether it is running',
  connection_timeout: 'the server does not accept the connection in time; check the port and the firewalls',
  connection_terminated: 'the server closes the connection; check whether the URL must start with https://',
  tls_certificate_error:
    'the certificate is not trusted; add the authority that issued it with NODE_EXTRA_CA_CERTS, or correct the host name',
  tls_protocol_error: 'the TLS handshake fails; check whether the URL must start with http://',
  tls_alert_received: 'the server refuses the TLS handshake; it may require a client certificate',
  http_protocol_error: 'the server does not speak HTTP/1.1 on this port; check the port and the scheme of the URL',
  http_response_incomplete: 'the server closes the connection in the middle of a response',
  http_response_timeout: 'the server does not respond in time',
};

/** Returns the usual explanation for a failed exchange, with the error's code. */
export function failureHint({ cause, code }: FailureFacts): string {
  const hint = BY_CAUSE[cause] ?? 'the exchange with the server fails';
  return `${hint} (${code ?? cause})`;
}

/**
 * Returns the usual explanation for a status that no operation returns if the base address is correct, or undefined for
 * other statuses.
 */
export function statusHint(status: number): string | undefined {
  if (status === 404) return 'the base path is wrong; the URL must end before /services/v2, for example http://host/qa';
  if (status >= 300 && status < 400)
    return 'it redirects, for example to a login page or to https; use the target of the redirect';
  return undefined;
}
