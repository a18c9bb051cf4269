import { ERRORS, type ErrorCode } from './catalogue.ts';

/** A detail of an error. It never contains a value from the request or the response. */
export interface ErrorDetail {
  /** The part of the request that the error concerns: `path`, `query`, `header` or `body`. */
  readonly in?: string;
  /** The name of a parameter, or a JSON pointer into the body. */
  readonly name?: string;
  readonly message?: string;
  readonly suggestion?: string;
  /** The permission, group or flag that the caller lacks. */
  readonly permission?: string;
  /** The row of an uploaded CSV file. Row 1 is the header. */
  readonly row?: number;
}

/** The error that a stage throws to end a request. Only one function converts such errors to replies. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** The response headers that belong to the error, such as `Allow`, `Retry-After` or `WWW-Authenticate`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    text: string,
    options: { details?: readonly ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(text, { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
  }
}
