/** An answer of a documented operation. */
export interface ObservedAnswer {
  readonly operation: string;
  readonly status: number;
  /** True where `details=true` was asked for. */
  readonly details: boolean;
  /** True where the caller chose the fields. */
  readonly projected: boolean;
  readonly wrap: boolean;
  readonly v1: boolean;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** The path and the query without `wrap` and `v1`, in any form that is the same for the same question; never kept. */
  readonly question: string;
  readonly json: unknown;
}

/** An answer of an address that the contract does not have. */
export interface ObservedPath {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of a success where it was read; undefined where it was streamed. */
  readonly json?: unknown;
}
