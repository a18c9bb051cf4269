import type { ServerResponse } from '../../../comparison/comparator.ts';
import type { NotMade } from '../tally.ts';

/** A request to send to both servers. */
export interface SourceRequest {
  readonly method: string;
  /** The path and query on the old server, below its base address. */
  readonly target: string;
}

/** What a source yields: a request, or a reason why there is none. */
export type SourceItem = SourceRequest | { readonly notMade: NotMade };

/** Where the requests of a comparison come from. */
export interface RequestSource {
  /** Returns the next item, or undefined if there is none. A walk may have further ones after `learn`. */
  next(): Promise<SourceItem | undefined>;
  /** Takes the old server's response to a request of one of the callers, from which further requests can follow. */
  learn(request: SourceRequest, response: ServerResponse): void;
  /** The number of requests that are known to follow. Undefined if only the end of the source would tell. */
  left(): number | undefined;
  /** Returns what a later run needs to continue after the last item that was taken. */
  position(): unknown;
  /** Returns the operations without a request, with the path parameters for which no id is known, if the source plans them. */
  notWalked?(): readonly { readonly operation: string; readonly missing: readonly string[] }[];
  close(): Promise<void>;
}
