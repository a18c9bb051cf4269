import type { HeaderPairs } from './header-pairs.ts';
import type { StreamedBody } from './streamed-body.ts';

/** A response from the upstream. The body is decoded. It is held in memory or, if it is too large, streamed. */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase. Undefined if it is not forwarded. */
  readonly reason?: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}
