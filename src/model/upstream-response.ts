import type { HeaderPairs } from './header-pairs.ts';
import type { StreamedBody } from './streamed-body.ts';

/**
 * A response from the upstream. The body is complete in memory with its content coding removed, or a stream if it is
 * too large.
 */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase, if it is forwarded. */
  readonly reason?: string;
  /** End-to-end headers only. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}
