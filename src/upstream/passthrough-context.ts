import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { UpstreamFailure } from '../model/upstream-failure.ts';
import type { StreamOwner } from './client-streams.ts';

/** How one request is passed. */
export interface PassthroughContext {
  readonly arrival: Arrival;
  /** In `observe`: no field or byte of the answer is rewritten, and the client's own credential passes. */
  readonly transparent: boolean;
  /** The credential to send outside `observe`. */
  readonly authorization: string | undefined;
  /** Whom the streams of this request count for. */
  readonly owner: StreamOwner;
  /** Scheme, host and public base path under which clients call us. */
  readonly publicAddress: string;
  /** Called with the head before it is written; what it answers is added to the fields. */
  onAnswer?(status: number, headers: HeaderPairs): HeaderPairs | undefined;
  /** Called at most once when the body names the legacy server and is not rewritten. */
  onLegacyAddress?(): void;
}

/** What became of a request that was passed. */
export interface PassthroughResult {
  readonly status: number;
  /** Bytes of body written to the client. */
  readonly bytes: number;
  /** Why the answer broke after its head was written; the client's connection is then broken too. */
  readonly failure?: UpstreamFailure;
}
