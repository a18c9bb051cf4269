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

/** A probe of a credential that the upstream answered with a status by which it says that it failed. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';

  constructor(status: number) {
    super(`the probe answered ${status}`);
  }
}
