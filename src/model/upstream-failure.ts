/** How an exchange with the upstream failed without an answer (rules, 8, last row). */
export type UpstreamFailureKind =
  'refused' | 'reset' | 'truncated' | 'deadline' | 'shed' | 'circuit_open' | 'too_large' | 'aborted';

/** A transport failure towards the upstream; `retryAfterSeconds` where waiting may help. */
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
