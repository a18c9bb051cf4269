import { ERRORS, type ErrorCode } from './catalogue.ts';

/** One fact about what went wrong: where, and what to write instead; never holds a value of the message. */
export interface ErrorDetail {
  /** `path`, `query`, `header`, `body`, … */
  readonly in?: string;
  /** The parameter or the JSON pointer. */
  readonly name?: string;
  readonly message?: string;
  readonly suggestion?: string;
  /** The permission, group or flag that is missing. */
  readonly permission?: string;
  /** Row of an uploaded CSV, the header being row 1. */
  readonly row?: number;
}

/** What a stage throws to answer with an error; the one catch turns it into a body. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** Fields of the answer that belong to the error: `Allow`, `Retry-After`, `WWW-Authenticate`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    text: string,
    more: { details?: readonly ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(text, { cause: more.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}
