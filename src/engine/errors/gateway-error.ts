import { serverErrorBody, type ServerErrorForm } from '../model/server-errors.ts';
import { ExpectedError } from '../../lib/expected-error.ts';
import { ERRORS, type ErrorCode, type ErrorKind } from './catalogue.ts';

/** A detail of an error. It never contains a value from the request or the response. */
export interface ErrorDetail {
  /** The part of the request to which the error applies: `path`, `query`, `header` or `body`. */
  readonly in?: string;
  /** The name of a parameter, or a JSON pointer into the body. */
  readonly name?: string;
  readonly message?: string;
  readonly suggestion?: string;
  /** The permission that the caller lacks. */
  readonly permission?: string;
  /** The group of which the caller is not a member. */
  readonly group?: string;
  /** The flag that the caller's account lacks. */
  readonly flag?: string;
  /** The row in an uploaded CSV file. Row 1 is the header. */
  readonly row?: number;
}

/** The error that a stage throws to end a request. Only one function converts such errors to replies. */
export class GatewayError extends ExpectedError {
  override readonly name = 'GatewayError';
  readonly code: string;
  readonly status: number;
  /** The title of the error in the catalogue (RFC 9457). */
  readonly title: string;
  readonly details: readonly ErrorDetail[];
  /** The response headers that belong to the error, such as `Allow`, `Retry-After` or `WWW-Authenticate`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The status of the upstream's response that this error replaces. It is set by the translation of errors. Undefined if
   * the upstream did not respond, or if the error is not about its response.
   */
  replacedStatus: number | undefined;

  constructor(
    kind: ErrorCode | ErrorKind,
    text: string,
    options: { details?: readonly ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(text, { cause: options.cause });
    const { code, status, title } = typeof kind === 'string' ? { code: kind, ...ERRORS[kind] } : kind;
    this.code = code;
    this.status = status;
    this.title = title;
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
    this.replacedStatus = undefined;
  }
}

/** The format of an error reply: RFC 9457, Portico's own format, or one of the API's servers. */
export type ErrorForm = 'problem' | 'normalized' | ServerErrorForm;

const DENIALS: ReadonlySet<string> = new Set(['permission_denied', 'credentials_required'] satisfies ErrorCode[]);

/** Formats an error as the body of a reply in the given form (docs/rules.md §8). */
export function toErrorBody(error: GatewayError, requestId: string, form: ErrorForm) {
  if (typeof form === 'object')
    return json('application/json; charset=utf-8', serverErrorBody(form, error.message, DENIALS.has(error.code)));
  const facts = { code: error.code, status: error.status, requestId, details: error.details };
  if (form === 'normalized') return json('application/json; charset=utf-8', { error: error.message, ...facts });
  return json('application/problem+json; charset=utf-8', {
    type: `urn:portico:error:${error.code}`,
    title: error.title,
    detail: error.message,
    ...facts,
  });
}

function json(contentType: string, value: unknown) {
  return { contentType, body: Buffer.from(JSON.stringify(value)) };
}
