import type { Fault } from '../model/fault.ts';

/** A Basic credential, parsed; `authorization` is its one canonical header value. */
export interface Credential {
  readonly name: string;
  readonly password: string;
  readonly authorization: string;
}

/**
 * What a verifier found; `busy` is our own limit, `unavailable` the lack of any answer, and neither says a word about
 * the credential.
 */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  | {
      readonly kind: 'unavailable';
      readonly retryAfterSeconds: number;
      /** True when the verifier itself cannot be trusted, so that nothing it said before can be. */
      readonly unusable: boolean;
      readonly cause?: unknown;
    };

/** Whether a verifier tells right from wrong credentials; `pending` asks to be tried again. */
export type Calibration =
  | { readonly kind: 'calibrated' }
  | { readonly kind: 'pending'; readonly cause: unknown }
  | { readonly kind: 'unusable'; readonly fault: Fault };

/** Tells whether a credential is somebody's. */
export interface Verifier {
  readonly kind: 'file' | 'upstream';
  /**
   * `known` marks a credential that was valid before: it goes ahead of all others and never finds the queue full. The
   * others share the queue fairly between the networks that they come from.
   */
  verify(credential: Credential, known: boolean, network: string): Promise<Verification>;
  /** Tries the verifier with a credential that must be refused. */
  calibrate(): Promise<Calibration>;
}
