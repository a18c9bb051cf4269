import type { Arrival } from '../model/arrival.ts';
import type { Operation } from '../model/operation.ts';
import type { Side } from '../model/trace.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import type { UpstreamOptions } from '../upstream/upstream-options.ts';
import type { UpstreamAddress } from '../upstream/upstream-url.ts';

/** What decides which of two upstreams serves a request. */
export interface SideRequest {
  readonly arrival: Pick<Arrival, 'method' | 'clientAddress'>;
  /** Undefined for an undocumented path. */
  readonly operation: Pick<Operation, 'id' | 'method'> | undefined;
  /**
   * The caller's name. It may be only a claim: the upstream that is chosen verifies it. Undefined for callers without a
   * name.
   */
  readonly name: string | undefined;
}

/** Chooses between the upstream and a second one. The engine knows both only by their names. */
export interface SideChoice {
  readonly sides: { readonly first: Side; readonly second: Side };
  /** Returns whether the second upstream serves a request. Has no effect, and is asked for each request. */
  usesSecond(request: SideRequest): boolean;
}

/** A second upstream, to which a feature sends a part of the requests. */
export interface SecondUpstream extends SideChoice {
  readonly address: UpstreamAddress;
  readonly options: UpstreamOptions;
  /** Sends the requests. The feature closes it. */
  readonly upstream: Upstream;
  /** The `Authorization` header of the service account. Undefined if callers' credentials are forwarded. */
  readonly serviceAuthorization: string | undefined;
}
