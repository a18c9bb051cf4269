import type { VerifierKind } from '../model/verifier-kind.ts';
import type { Credential } from '../../lib/basic-credentials.ts';
import type { Fault } from '../model/fault.ts';

/**
 * The result of a verification. `busy` means that one of Portico's own limits was reached, and `unavailable` means that
 * the upstream did not respond or is failing. Neither result shows whether the credential is valid.
 */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  | {
      readonly kind: 'unavailable';
      readonly retryAfterSeconds: number;
      /** True if the verifier itself cannot be trusted. In that case, its earlier results are also invalid. */
      readonly unusable: boolean;
      readonly cause?: unknown;
    };

/**
 * Whether a verifier can distinguish valid credentials from invalid ones. `pending` means that this is not yet known.
 */
export type Calibration =
  | { readonly kind: 'calibrated' }
  | { readonly kind: 'pending'; readonly cause: unknown }
  | { readonly kind: 'unusable'; readonly fault: Fault };

/** Verifies credentials. */
export interface Verifier {
  readonly kind: VerifierKind;
  /**
   * Verifies a credential. `known` means that the credential has previously been valid. Known credentials take
   * precedence and are never refused because of a full queue. All other credentials share the queue, which is divided
   * fairly among networks.
   */
  verify(credential: Credential, known: boolean, network: string): Promise<Verification>;
  /** Checks that the verifier refuses an invalid credential. */
  calibrate(): Promise<Calibration>;
}
