import type { Readable } from 'node:stream';
import type { AttemptLog } from '../model/trace.ts';
import type { Cancellation } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { StreamOwner } from './client-streams.ts';
import type { Upload } from './send-proxied.ts';
import type { ExceededLimit } from './observe-limits.ts';
import type { StreamedBody } from '../model/streamed-body.ts';

/** One request to the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** The raw path and query, relative to the base address. The base path is added when the request is sent. */
  readonly target: string;
  /**
   * The headers to send. Hop-by-hop headers, `Host` and `Expect` are omitted from the request, and the content length
   * is recomputed.
   */
  readonly headers: HeaderPairs;
  readonly body?: Buffer | Readable;
  /** A client's body, which the proxy library sends. Used only in the `streamed` mode. */
  readonly upload?: Upload | undefined;
  readonly signal?: Cancellation;
  /**
   * Returns the client to which the request and its streams belong. Required if a body may be streamed in either
   * direction.
   */
  readonly owner?: () => StreamOwner;
  /**
   * Identifies the page that is requested. Undefined if the response cannot be stored. Failures of a single page
   * never open the circuit.
   */
  readonly page?: string | undefined;
  /**
   * The form of the response.
   *
   * `buffered`: the whole body without its content coding, or a failure.
   *
   * `transparent`: the bytes as received. A body that is too large or broken becomes a stream that ends or fails in the
   * same way as the received body.
   *
   * `streamed`: the bytes as received, always as a stream. After its head has arrived, the response counts as one of
   * the client's streams.
   */
  readonly mode: 'buffered' | 'transparent' | 'streamed';
  /**
   * Records every attempt to send the request, and provides the span id of each attempt. Undefined if spans are not
   * exported.
   */
  readonly log?: AttemptLog | undefined;
}

/** A response from the upstream. Its decoded body is either in memory or, if it is too large, a stream. */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase. Undefined if it is not forwarded. */
  readonly reason?: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}

/** A response and the number of times the request was sent. */
export interface ExchangedResponse extends UpstreamResponse {
  readonly attempts: number;
  /** The limit that would have refused the exchange. Set only if limits are observed rather than enforced. */
  readonly exceeded?: ExceededLimit | undefined;
}
