import type { Arrival } from '../model/arrival.ts';
import type { Operation } from '../model/operation.ts';
import type { Side } from '../model/trace.ts';
import type { CompiledGateway } from './compiled-gateway.ts';

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

/** The gateway in front of the second upstream. */
export interface SecondSide extends SideChoice {
  /**
   * Compiled like the first gateway, but with everything that is known about the second upstream in place of what is
   * known about the first: its address, connections, circuit, sessions, verified credentials and authors. Page versions
   * contain the address, so neither stored pages nor page counts nor fetches in progress are shared.
   */
  readonly gateway: CompiledGateway;
  /** Returns the name in a credential, before it is verified. `later` means that only its verification tells the name. */
  claimedName(authorization: string | undefined): { readonly name: string | undefined } | 'later';
}
