/** One request of a walk. */
export interface WalkRequest {
  /** The operation that it belongs to. */
  readonly operation: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** The query alone; empty for none. */
  readonly query: string;
  /** When it is sent: what has a lower number goes first, so that every operation is seen before any is seen closely. */
  readonly rank: number;
}

/** The ranks, from what is asked of every operation to what is asked while requests are left. */
export const RANK = { plain: 0, pages: 1, shapes: 2, filters: 3, more: 4 } as const;
