import type { HeaderPairs } from './header-pairs.ts';
import type { StreamedBody } from './streamed-body.ts';

/** A response from the upstream. The body is decoded and completely in memory, or a stream if it is too large. */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase, if it is forwarded. */
  readonly reason?: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}
