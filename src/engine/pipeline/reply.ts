import type { Validity } from '../cache/may-store.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { StreamedBody } from '../model/streamed-body.ts';

/** Facts about a parsed body, for stages that do not read the body itself. */
export interface BodyFacts {
  /** False if the body is not JSON or was not parsed. */
  readonly isJson: boolean;
  /** True if the items are where the contract expects them in the body. */
  readonly isOuterForm: boolean;
  readonly hasTopLevelError: boolean;
  /**
   * The number of pages in the list. Undefined if the body does not contain it or if the page bound does not apply
   * (docs/rules.md §5).
   */
  readonly pageCount: number | undefined;
  /** The tags of the items. Empty unless the operation's pages are cached. */
  readonly tags: readonly string[];
}

/** Facts about a response that response validation and paging determine for the outer stages. */
export interface ResponseFacts {
  readonly validity: Validity;
  readonly body: BodyFacts;
  /** Whether the body contains an absolute address of the upstream. Undefined if the body was not searched. */
  readonly namesUpstream?: boolean;
}

/** The reply that a handler returns, and that the public handler writes to a connection. */
export interface Reply {
  readonly status: number;
  /** The upstream's reason phrase. If undefined, the standard phrase is sent. */
  readonly reason?: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
  /** A strong entity tag. Undefined if conditional requests are not supported. */
  readonly etag?: string;
  readonly facts?: ResponseFacts;
  /** The page count in the response. Undefined if the response has none or the page bound does not apply. */
  readonly pageCount?: number | undefined;
  /** The key of the stored page, if the reply comes from the cache. */
  readonly storedAs?: string;
  /** True if another caller's request was sent upstream and this caller shares the response. */
  readonly shared?: boolean;
}
