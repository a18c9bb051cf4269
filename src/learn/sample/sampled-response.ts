/** A response to a request for a documented operation. */
export interface SampledResponse {
  readonly operation: string;
  readonly status: number;
  /** True if the request had `details=true`. */
  readonly details: boolean;
  /** True if the caller chose the fields. */
  readonly projected: boolean;
  readonly wrap: boolean;
  readonly v1: boolean;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Identifies requests that differ only in `wrap` and `v1`, in any form. It is never stored. */
  readonly request: string;
  readonly json: unknown;
}

/** A response to a request for an undocumented path. */
export interface SampledPath {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of a successful response; undefined if it was streamed. */
  readonly json?: unknown;
}
