import type { CheckLevel } from '../model/checks.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { Calibration } from './verifier.ts';

/** The data from a request that authentication needs. */
export interface AuthenticationInput {
  /** The raw value of the `Authorization` header. */
  readonly authorizationHeader: string | undefined;
  /** Tokens and cookies that are also forwarded. Callers with different ones do not share stored responses. */
  readonly otherCredential?: string | undefined;
  /**
   * Returns the client's address. It is called only if the verifier is needed, because the verifier counts failed
   * attempts.
   */
  readonly clientAddress: () => string;
  /** The client's connection. A credential that is repeated on the same connection does not have to be hashed again. */
  readonly connection?: object | undefined;
  /** The level of the `authentication` check for this request. */
  readonly level: CheckLevel;
  /** True if anonymous callers are refused even when the configuration allows them (rules, 2). */
  readonly needsCredential?: boolean;
  /**
   * True if the request waits for the verifier even at the `report` level, because enforced permissions depend on who
   * the caller is.
   */
  readonly needsVerification?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The principal, and the verdict to record in the trace. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly trace: AuthenticationTrace;
}

/** Determines the principal of a request. */
export interface Authenticator {
  /**
   * Determines the principal. Returns synchronously if the verifier is not needed, because the credential is missing,
   * malformed or recently verified. At the `enforce` level, throws or rejects with a `GatewayError` for callers that
   * are refused. At the `report` and `off` levels, never fails.
   */
  authenticate(input: AuthenticationInput): AuthenticationResult | Promise<AuthenticationResult>;
  /** Forgets a verified credential after the upstream has refused it. */
  forget(principal: Pick<Principal, 'authorization'>): void;
  /**
   * Checks that the verifier refuses a wrong credential. This is done at startup and then periodically, and again soon
   * if the result is pending.
   */
  calibrate(): Promise<Calibration>;
}
