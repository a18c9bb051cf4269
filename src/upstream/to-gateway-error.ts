import type { ErrorCode } from '../errors/catalogue.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../model/upstream-failure.ts';

const BY_KIND: Readonly<Record<UpstreamFailureKind, readonly [ErrorCode, string]>> = {
  refused: ['upstream_refused', 'The upstream cannot be reached.'],
  reset: ['upstream_reset', 'The upstream broke the connection.'],
  truncated: ['upstream_reset', 'The upstream broke off in the middle of its answer.'],
  deadline: ['upstream_timeout', 'The upstream did not answer in time.'],
  shed: ['upstream_overloaded', 'Too many requests wait for the upstream.'],
  circuit_open: ['upstream_circuit_open', 'The upstream keeps failing; calls to it are paused.'],
  too_large: ['upstream_response_too_large', 'The answer of the upstream is too large.'],
  // Nobody reads this; the log and the metrics tell it from failures by its code.
  aborted: ['client_closed', 'The client left before the upstream answered.'],
};

const WITH_RETRY: ReadonlySet<UpstreamFailureKind> = new Set(['shed', 'circuit_open']);

/** The error that a transport failure becomes (rules, 8, last row), in every mode. */
export function toGatewayError(failure: UpstreamFailure): GatewayError {
  const [code, text] = BY_KIND[failure.kind];
  const seconds = failure.retryAfterSeconds ?? (WITH_RETRY.has(failure.kind) ? 1 : undefined);
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return new GatewayError(code, text, { headers, cause: failure });
}
