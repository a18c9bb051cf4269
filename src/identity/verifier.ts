import type { Fault } from '../model/fault.ts';

/** A parsed Basic credential; `authorization` is its canonical header value. */
export interface Credential {
  readonly name: string;
  readonly password: string;
  readonly authorization: string;
}

/**
 * The result of a verification; `busy` (Portico's own limit) and `unavailable` (no response) give no information about
 * the credential.
 */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  | {
      readonly kind: 'unavailable';
      readonly retryAfterSeconds: number;
      /** True if the verifier itself cannot be trusted, which also invalidates its earlier results. */
      readonly unusable: boolean;
      readonly cause?: unknown;
    };

/**
 * Whether a verifier distinguishes valid from invalid credentials; `pending` means that calibration must be retried.
 */
export type Calibration =
  | { readonly kind: 'calibrated' }
  | { readonly kind: 'pending'; readonly cause: unknown }
  | { readonly kind: 'unusable'; readonly fault: Fault };

/** Verifies credentials. */
export interface Verifier {
  readonly kind: 'file' | 'upstream';
  /**
   * Verifies a credential. `known` marks one that was valid before: it takes precedence and is never refused because
   * the queue is full. All others share the queue fairly between their networks.
   */
  verify(credential: Credential, known: boolean, network: string): Promise<Verification>;
  /** Tries a credential that the verifier must refuse. */
  calibrate(): Promise<Calibration>;
}
