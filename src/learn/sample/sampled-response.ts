/** A response to a request for a documented operation. */
export interface SampledResponse {
  readonly operation: string;
  readonly status: number;
  /** True if the request contained `details=true`. */
  readonly details: boolean;
  /** True if the caller selected the fields in the response. */
  readonly projected: boolean;
  readonly wrap: boolean;
  readonly v1: boolean;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** A key shared by requests that differ only in `wrap` and `v1`. It is never stored. */
  readonly request: string;
  readonly json: unknown;
}

/** A response to a request for an undocumented path. */
export interface SampledPath {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of a successful response. Undefined if the body was streamed. */
  readonly json?: unknown;
}
