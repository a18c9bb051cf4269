import type { HeaderPairs } from './header-pairs.ts';
import type { StreamedBody } from './streamed-body.ts';

/** A response from the upstream. Its decoded body is either in memory or, if it is too large, a stream. */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase. Undefined if it is not forwarded. */
  readonly reason?: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}
