import { errors } from 'undici';
import type { ErrorCode } from '../../errors/catalogue.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../model/upstream-failure.ts';

/** The phase in which an exchange failed. */
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
  // The code of the error that occurs when the reader of a body stops reading.
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const BY_PHASE: Readonly<Record<ExchangePhase, UpstreamFailureKind>> = {
  connecting: 'refused',
  waiting: 'reset',
  body: 'truncated',
};

/** Converts an error from a socket, undici or `node:http`. Returns an `UpstreamFailure` unchanged. */
export function toTransportFailure(error: unknown, phase: ExchangePhase): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Most HTTP parser errors have no code.
  const failureCause = error instanceof errors.HTTPParserError && code === '' ? 'http_protocol_error' : undefined;
  return new UpstreamFailure(kindOf(code, phase), { cause: error, failureCause });
}

function kindOf(code: string, phase: ExchangePhase): UpstreamFailureKind {
  if (DEADLINE_CODES.has(code)) return 'deadline';
  if (ABORTED_CODES.has(code)) return 'aborted';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return 'too_large';
  return BY_PHASE[phase];
}

/** The parts of an error. `retryAfterSeconds` is used if the failure does not specify a `Retry-After` value. */
type ErrorParts = readonly [code: ErrorCode, text: string, retryAfterSeconds?: number];

const BY_KIND: Readonly<Record<UpstreamFailureKind, ErrorParts>> = {
  refused: ['upstream_refused', 'The upstream cannot be reached.'],
  reset: ['upstream_reset', 'The connection to the upstream was lost.'],
  truncated: ['upstream_reset', 'The connection to the upstream was lost during the response.'],
  deadline: ['upstream_timeout', 'The upstream did not respond in time.'],
  shed: ['upstream_overloaded', 'Too many requests are waiting for the upstream.', 1],
  circuit_open: ['upstream_circuit_open', 'The upstream keeps failing; requests to it are paused.', 1],
  too_large: [
    'upstream_response_too_large',
    'The headers of the upstream response are larger than upstream.maxResponseHeaderBytes allows.',
  ],
  // No client receives a `client_closed` error. In the log and the metrics, its code sets it apart from real failures.
  aborted: ['client_closed', 'The client disconnected before the upstream responded.'],
};

/** Describes a failure to clients and in reports. If a body exceeds the limit, the text names the limit and its key. */
export function failureText({ kind, limitBytes }: Pick<UpstreamFailure, 'kind' | 'limitBytes'>): string {
  if (limitBytes === undefined) return BY_KIND[kind][1];
  return `The upstream response is larger than ${limitBytes} bytes, which is the limit of upstream.maxResponseBytes.`;
}

/** Returns the error for a transport failure. It is the same in every mode (docs/rules.md §8, last three rows). */
export function toGatewayError(failure: UpstreamFailure): GatewayError {
  const [code, , retryAfterSeconds] = BY_KIND[failure.kind];
  const seconds = failure.retryAfterSeconds ?? retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return new GatewayError(code, failureText(failure), { headers, cause: failure });
}
