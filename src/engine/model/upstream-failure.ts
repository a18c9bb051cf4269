import { ExpectedError } from '../../lib/expected-error.ts';
import { causeOfCode, errorCode, type FailureCause, type FailureFacts } from './failure-cause.ts';

/** The ways in which an exchange with the upstream can end without a response (docs/rules.md §8, last three rows). */
export type UpstreamFailureKind =
  'refused' | 'reset' | 'truncated' | 'deadline' | 'shed' | 'circuit_open' | 'too_large' | 'aborted';

/** The cause assumed for each kind of failure if no error code indicates a more precise cause. */
const BY_KIND: Readonly<Record<Exclude<UpstreamFailureKind, 'aborted'>, FailureCause>> = {
  refused: 'destination_unavailable',
  reset: 'connection_terminated',
  truncated: 'http_response_incomplete',
  deadline: 'http_response_timeout',
  shed: 'connection_limit_reached',
  circuit_open: 'destination_unavailable',
  too_large: 'http_response_body_size',
};

/** A failed exchange with the upstream. `retryAfterSeconds` is set if an attempt after that time might succeed. */
export class UpstreamFailure extends ExpectedError {
  override readonly name = 'UpstreamFailure';
  readonly kind: UpstreamFailureKind;
  readonly retryAfterSeconds: number | undefined;
  /** The cause of the failure. Undefined if the client disconnected. */
  readonly facts: FailureFacts | undefined;
  /** The limit on the body, in bytes, that a `too_large` response exceeded. Undefined if its headers are too large. */
  readonly limitBytes: number | undefined;

  constructor(
    kind: UpstreamFailureKind,
    options: {
      cause?: unknown;
      retryAfterSeconds?: number;
      failureCause?: FailureCause | undefined;
      limitBytes?: number;
    } = {},
  ) {
    super(`upstream exchange failed: ${kind}`, { cause: options.cause });
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.limitBytes = options.limitBytes;
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
  const isClosed = code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
  const byKind = isClosed && kind === 'refused' ? 'connection_terminated' : BY_KIND[kind];
  const cause = given ?? causeOfCode(code) ?? byKind;
  return code === undefined ? { cause } : { cause, code };
}

/** The error for a credential check that failed because the upstream responded with a server error. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
  readonly status: number;

  constructor(status: number) {
    super(`the probe returned status ${status}`);
    this.status = status;
  }
}
