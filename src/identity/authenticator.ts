import type { CheckLevel } from '../model/checks.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { Calibration } from './verifier.ts';

/** What authentication reads of a request. */
export interface AuthenticationInput {
  /** The raw value of the `Authorization` header. */
  readonly authorizationHeader: string | undefined;
  /**
   * Tokens and cookies that travel upstream beside it; they keep this caller's stored answers from everybody else's.
   */
  readonly otherCredential?: string | undefined;
  /** Read only when a failure has to be counted. */
  readonly clientAddress: () => string;
  /** The level of the check `authentication` for this request. */
  readonly level: CheckLevel;
  /** True where an anonymous caller is refused even when such callers are allowed (rules, 2). */
  readonly needsCredential?: boolean;
  /** True where the level `report` waits for the verifier, because enforced permissions depend on who is asking. */
  readonly mustKnow?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Who is asking, and what goes into the trace. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly trace: AuthenticationTrace;
}

/** Decides who is asking. */
export interface Authenticator {
  /**
   * Returns at once where no verifier has to be asked: for a credential that was verified a short while ago, for a
   * caller without one, and for a malformed one. Throws or rejects with `GatewayError` for callers that the level
   * `enforce` refuses, and never at `report` and `off`.
   */
  authenticate(input: AuthenticationInput): AuthenticationResult | Promise<AuthenticationResult>;
  /** Drops a verified credential, because the upstream has refused it. */
  forget(principal: Pick<Principal, 'authorization'>): void;
  /** Tries the verifier with a wrong credential: at start, from time to time, and until it is no longer pending. */
  calibrate(): Promise<Calibration>;
}
