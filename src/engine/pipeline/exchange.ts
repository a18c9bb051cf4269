import type { Readable } from 'node:stream';
import type { ParameterValues } from '../contract/values.ts';
import type { Cancellation, Arrival } from '../model/arrival.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import type { RequestedPage } from '../paging/requested-page.ts';
import type { Grants } from '../permissions/decide.ts';

/** A request after authentication. */
export interface KnownRequest {
  readonly arrival: Arrival;
  readonly principal: Principal;
  /**
   * Returns the signal that fires when the client disconnects. The signal is created on the first call. Undefined for
   * work shared by several callers.
   */
  readonly clientGone?: (() => Cancellation) | undefined;
  readonly trace: Trace;
}

/** A request that matches a plan. `admit` decodes the target once, so that no later stage has to parse it again. */
export interface Exchange extends KnownRequest {
  readonly grants: Grants;
  /** The audience whose stored responses may be sent to this caller. */
  readonly audience: string;
  /** The cache keys for the target. Undefined if they cannot be remembered. */
  readonly keys?: TargetKeys | undefined;
  /** Returns the parameters. They are decoded on demand, because cache hits do not need them. */
  readonly values: () => ParameterValues;
  /** The requested page. Meaningless for operations without pages. */
  readonly requestedPage: RequestedPage;
  /** The exact target to send upstream, relative to the upstream's base path. */
  readonly target: string;
  /** The request body. Set after a stage has read it. */
  readonly body?: Buffer | Readable;
  /** A text that is the same for all bodies with the same content. Set if the operation has a rule about it. */
  readonly bodyIdentity?: string;
  /**
   * True if the caller's own credential must be forwarded because only the upstream can decide whether the caller has
   * permission.
   */
  readonly delegated: boolean;
}

/**
 * The cache keys for a target and the audience that requested it most recently. They are remembered with the target, so
 * that the next cache hit does not have to create and hash them again.
 */
export interface TargetKeys {
  audience: string | undefined;
  /** The key for the stored page. */
  page: string | undefined;
  /** The key for the page count. */
  list: string | undefined;
}

/** A request for an undocumented path that the policy allows. */
export interface PassthroughExchange extends KnownRequest {
  /** The permission required by the matching entry of `undocumented.allow`. */
  readonly permission: string | undefined;
}
