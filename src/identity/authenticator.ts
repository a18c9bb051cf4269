import type { CheckLevel } from '../model/checks.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { Calibration } from './verifier.ts';

/** The parts of a request that authentication reads. */
export interface AuthenticationInput {
  /** The raw value of the `Authorization` header. */
  readonly authorizationHeader: string | undefined;
  /**
   * Tokens and cookies that are also forwarded; they separate this caller's stored responses from those of
   * others.
   */
  readonly otherCredential?: string | undefined;
  /** Called only if a failure has to be counted. */
  readonly clientAddress: () => string;
  /** Identifies the client's connection, on which the same credential is not hashed again. */
  readonly connection?: object | undefined;
  /** The level of the check `authentication` for this request. */
  readonly level: CheckLevel;
  /** True if an anonymous caller is refused even when anonymous callers are allowed (rules, 2). */
  readonly needsCredential?: boolean;
  /** True if the level `report` must wait for the verifier, because enforced permissions depend on the caller. */
  readonly needsVerification?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The principal and the verdict for the trace. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly trace: AuthenticationTrace;
}

/** Determines the principal of a request. */
export interface Authenticator {
  /**
   * Returns synchronously if the verifier is not needed: for a recently verified credential, for a caller without one,
   * and for a malformed one. Throws or rejects with `GatewayError` for callers that the `enforce` level refuses;
   * never fails at the levels `report` and `off`.
   */
  authenticate(input: AuthenticationInput): AuthenticationResult | Promise<AuthenticationResult>;
  /** Drops a verified credential because the upstream has refused it. */
  forget(principal: Pick<Principal, 'authorization'>): void;
  /** Tries the verifier with a wrong credential: at startup, periodically, and until the result is no longer pending. */
  calibrate(): Promise<Calibration>;
}
