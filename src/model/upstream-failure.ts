/** The ways in which an exchange with the upstream can end without a response (rules, 8, last row). */
export type UpstreamFailureKind =
  'refused' | 'reset' | 'truncated' | 'deadline' | 'shed' | 'circuit_open' | 'too_large' | 'aborted';

/** A failed exchange with the upstream. `retryAfterSeconds` is set if a retry may succeed later. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: UpstreamFailureKind;
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: UpstreamFailureKind, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(`upstream exchange failed: ${kind}`, { cause: options.cause });
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The error of a credential probe to which the upstream responded with a server error. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';

  constructor(status: number) {
    super(`the probe returned status ${status}`);
  }
}
