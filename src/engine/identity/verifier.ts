import type { NameRule } from '../model/caller-name.ts';
import type { Fault } from '../model/fault.ts';
import type { Access } from '../model/principal.ts';
import type { Clock } from '../../lib/clock.ts';

/** A credential that a request contains. */
export interface Credential {
  /**
   * The `Authorization` value. It is the same for all ways to write the same credential. Verified credentials are
   * remembered by a keyed hash of it.
   */
  readonly authorization: string;
  /** The caller's name. Undefined if only the verifier can tell it, as for a token. */
  readonly name: string | undefined;
  /**
   * What a credential without a name claims to be, such as one of the tokens. Failed attempts are counted for each claim,
   * so that wrong credentials do not block others of the same network. Never secret, and never the name of a caller.
   */
  readonly claim?: string;
}

/** An authentication scheme (RFC 9110 §11.1): how a credential is written, and how clients are asked for one. */
export interface Scheme<Own extends Credential = Credential> {
  /** The name, such as `Basic`. */
  readonly name: string;
  /**
   * Reads the credential in an `Authorization` header. Returns undefined if the header is of another scheme, or of another
   * verifier of the same scheme, which is then asked.
   */
  read(header: string): Own | 'malformed' | undefined;
  /**
   * Returns the challenge of the scheme. `refused` states why the request's own credential of this scheme was refused.
   * Undefined if it had none.
   */
  challenge(realm: string, refused?: 'malformed' | 'invalid'): string;
  /**
   * Returns the challenge of a 403 for a verified caller whose credential grants too little. Undefined if the scheme has
   * none.
   */
  insufficient?(realm: string): string;
}

/**
 * The result of a verification. `busy` means that one of Portico's own limits was reached, and `unavailable` means that
 * the upstream did not respond or is failing. Neither result shows whether the credential is valid.
 */
export type Verification =
  | {
      readonly kind: 'valid';
      /** The caller's name. Undefined if the credential states it. */
      readonly name?: string;
      /** What the credential lets the caller do. Undefined if it is the caller's password. */
      readonly access?: Access;
      /**
       * The time, in epoch milliseconds, from which the credential must be verified again, if that is earlier than
       * `cacheSeconds` say.
       */
      readonly freshUntilAt?: number;
    }
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

/** Verifies the credentials of one scheme. */
export interface Verifier<Own extends Credential = Credential> {
  readonly scheme: Scheme<Own>;
  /**
   * True if a verification sends a request to the upstream. A request whose authentication is only reported does not
   * wait for it, and the verifier is calibrated.
   */
  readonly asksUpstream: boolean;
  /**
   * True if only Portico knows what the credentials mean. They are then never sent upstream, whether or not they are
   * valid, and each verification states their `access`.
   */
  readonly withheld?: true;
  /**
   * Verifies a credential that `scheme` has read. `known` means that the credential has previously been valid. Known
   * credentials take precedence and are never refused because of a full queue. All other credentials share the queue,
   * which is divided fairly among networks.
   */
  verify(credential: Own, known: boolean, network: string): Promise<Verification>;
  /** Checks that the verifier refuses an invalid credential. Not called for verifiers of features. */
  calibrate(): Promise<Calibration>;
}

/** The maximum numbers of running and waiting tasks. */
export interface WorkBounds {
  readonly concurrency: number;
  readonly queue: number;
}

/** Options for the probe that the upstream verifier sends. */
export interface ProbeOptions extends WorkBounds {
  readonly path: string;
  /** The only statuses that prove that a credential is valid. */
  readonly validStatuses: readonly number[];
  readonly timeoutMs: number;
}

/** The options of the verifiers, which are part of the `authentication` configuration key. */
export interface VerifierOptions {
  /** Limits for concurrent password hashing. */
  readonly hashing: WorkBounds;
  /** The request that shows whether the upstream accepts a credential. */
  readonly probe: ProbeOptions;
  /** The interval between tests of the probe with an invalid credential, in seconds. */
  readonly calibrationSeconds: number;
}

/** The name and password hash of an account in the roles file. */
export interface FileAccount {
  readonly name: string;
  /** An argon2id hash in PHC format. An account without a hash cannot log in. */
  readonly passwordHash?: string | undefined;
}

/**
 * Sends the probe with an `Authorization` value and returns the response's status. Throws an `UpstreamFailure` if there
 * is no response.
 */
export type Probe = (authorization: string, signal: AbortSignal) => Promise<{ readonly status: number }>;

/** What a verifier can be made of. */
export interface VerifierParts {
  readonly options: VerifierOptions;
  /** The accounts in the roles file, whose name for messages is `source`. */
  readonly roles: { readonly source: string; readonly accounts: readonly FileAccount[] };
  /** How a caller's name is compared with the names of accounts. */
  readonly names: NameRule;
  /** Sends a credential to the upstream. Undefined if the gateway sends no requests of its own, as in `observe` mode. */
  readonly probe: Probe | undefined;
  readonly clock: Clock;
}

/** A kind of verifier. `authentication.verifier` names one (`verifiers.ts`). */
export interface VerifierKind {
  readonly scheme: Scheme;
  readonly asksUpstream: boolean;
  /** True if the passwords of the accounts in the roles file are verified. */
  readonly readsPasswords: boolean;
  /** The options that only this kind of verifier uses. */
  readonly uses: readonly (keyof VerifierOptions)[];
  /** Creates the verifier. Throws a `StartFault` if the roles file prevents it. */
  open(parts: VerifierParts): Verifier;
  /**
   * Creates a verifier for `portico explain`, which regards every password or token as right, and decides everything else
   * as the real one. It sends nothing.
   */
  openTrusting(parts: VerifierParts): Verifier;
}
