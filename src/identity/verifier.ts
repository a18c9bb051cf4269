import type { Credential } from '../lib/basic-credentials.ts';
import type { Fault } from '../model/fault.ts';

/**
 * The result of a verification. `busy` means that one of Portico's own limits was reached, and `unavailable` means that
 * there was no response. Neither shows whether the credential is valid.
 */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  | {
      readonly kind: 'unavailable';
      readonly retryAfterSeconds: number;
      /** True if the verifier itself cannot be trusted, in which case its earlier results are invalid too. */
      readonly unusable: boolean;
      readonly cause?: unknown;
    };

/** Whether a verifier can tell valid credentials from invalid ones. `pending` means that this is not known yet. */
export type Calibration =
  | { readonly kind: 'calibrated' }
  | { readonly kind: 'pending'; readonly cause: unknown }
  | { readonly kind: 'unusable'; readonly fault: Fault };

/** Verifies credentials. */
export interface Verifier {
  readonly kind: 'file' | 'upstream';
  /**
   * Verifies a credential. A `known` credential has been valid before, so it takes precedence and is never refused
   * because the queue is full. All other credentials share the queue, which is divided fairly between networks.
   */
  verify(credential: Credential, known: boolean, network: string): Promise<Verification>;
  /** Checks that the verifier refuses a wrong credential. */
  calibrate(): Promise<Calibration>;
}
