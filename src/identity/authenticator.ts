import type { CheckLevel } from '../model/checks.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { Calibration } from './verifier.ts';

/** What authentication reads of a request. */
export interface AuthenticationInput {
  /** The raw `Authorization` field. */
  readonly authorizationHeader: string | undefined;
  /** Tokens and cookies that travel upstream beside it; they keep this caller's stored answers from everybody else's. */
  readonly otherCredential?: string | undefined;
  readonly clientAddress: string;
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
  readonly kind: 'principal';
  readonly principal: Principal;
  readonly trace: AuthenticationTrace;
}

/** Tells who is asking. */
export interface Authenticator {
  /** Throws GatewayError for callers that the level `enforce` refuses; never throws one at `report` and `off`. */
  authenticate(input: AuthenticationInput): Promise<AuthenticationResult>;
  /**
   * Tells at once who is asking where that is known without a question: by a credential that was verified a short while
   * ago, or without one where that is allowed. Undefined where `authenticate` has to be asked; neither counts a failure.
   */
  recall(
    input: Pick<AuthenticationInput, 'authorizationHeader' | 'level' | 'needsCredential' | 'now'>,
  ): AuthenticationResult | undefined;
  /** Drops a verified credential, because the upstream has refused it. */
  forget(principal: Pick<Principal, 'authorization'>): void;
  /** Tries the verifier with a wrong credential: at start, from time to time, and until it is no longer pending. */
  calibrate(): Promise<Calibration>;
}
