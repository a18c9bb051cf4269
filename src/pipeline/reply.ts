import type { Validity } from '../cache/may-store.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { StreamedBody } from '../model/streamed-body.ts';
import type { BodyFacts } from './known-bodies.ts';

/** Facts about a response, determined by response validation and paging and used by the outer stages. */
export interface ResponseFacts {
  readonly validity: Validity;
  readonly body: BodyFacts;
  /** Whether the body contains an absolute address of the upstream. Undefined if it was not searched. */
  readonly namesUpstream?: boolean;
}

/** The reply that a handler returns and that the public handler writes to a connection. */
export interface Reply {
  readonly status: number;
  /** The upstream's reason phrase, if it is forwarded. If undefined, the standard phrase is sent. */
  readonly reason?: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
  /** A strong entity tag, if conditional requests are supported. */
  readonly etag?: string;
  readonly facts?: ResponseFacts;
  /** The page count in the response. Undefined if the response has none or the page bound does not apply. */
  readonly pageCount?: number | undefined;
  /** The key of the stored page, if the reply comes from the cache. */
  readonly storedAs?: string;
  /** True if the reply was fetched for another caller. */
  readonly shared?: boolean;
}
