/** Who acted, and from where. */
export interface ActionOrigin {
  /**
   * How the operator was recognized: as an `operator` with a password, by the `token`, or by neither
   * (`loopback without token`). `unknown` is somebody who was refused, `caller` the holder of a credential on the public
   * side, `portico` the gateway itself, and `process` whoever controls the gateway's process or its files.
   */
  readonly actor: 'token' | 'operator' | 'loopback without token' | 'unknown' | 'process' | 'portico' | 'caller';
  /** The operator's name. It is verified only if the actor is an `operator`. */
  readonly by?: string | undefined;
  /** The network address from which the admin side received the request. */
  readonly from?: string | undefined;
  /** The way in which the action was requested. `api` includes the command line. */
  readonly way: 'console' | 'api' | 'signal' | 'program' | 'file' | 'portico';
}

/** JSON values by name. */
export type ActionDetails = Readonly<Record<string, unknown>>;

/** How an action ended. */
export const ACTION_OUTCOMES = ['done', 'refused', 'failed'] as const;

/**
 * A change that an operator made or tried to make on the admin side, or a sign-in. It contains no secrets, and no personal
 * data except the operator's name.
 */
export interface OperatorAction extends ActionOrigin {
  /** The time of the action, in epoch milliseconds. */
  readonly at: number;
  /**
   * What was done, in small letters, such as `purge` or `sign in`. `change` is a change that was refused before it was known
   * which one it was.
   */
  readonly action: string;
  readonly outcome: (typeof ACTION_OUTCOMES)[number];
  /** Why the action was refused or failed. */
  readonly reason?: string | undefined;
  /** What was changed, such as an operation, a check, a fingerprint or tags. */
  readonly subject?: ActionDetails | undefined;
  /** The previous state of the subject. */
  readonly before?: ActionDetails | undefined;
  /** The new state of the subject, or the result of the change. */
  readonly after?: ActionDetails | undefined;
}
