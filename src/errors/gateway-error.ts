import { ERRORS, type ErrorCode } from './catalogue.ts';

/** One detail of an error: its place and a suggestion; never contains a value from the message. */
export interface ErrorDetail {
  /** `path`, `query`, `header`, `body`, … */
  readonly in?: string;
  /** The name of the parameter or a JSON pointer. */
  readonly name?: string;
  readonly message?: string;
  readonly suggestion?: string;
  /** The missing permission, group or flag. */
  readonly permission?: string;
  /** Row of an uploaded CSV file; the header is row 1. */
  readonly row?: number;
}

/** The error that a stage throws to end a request; one central handler turns it into a reply. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** Response headers that belong to the error: `Allow`, `Retry-After`, `WWW-Authenticate`. */
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
