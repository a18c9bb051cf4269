import type { Violation } from '../model/violation.ts';
import type { ResponseVariant } from './schema-names.ts';

/** Which answer is looked at. */
export interface AnswerHead {
  readonly status: number;
  /** The value of `Content-Type`, parameters and all; undefined when the answer has none. */
  readonly mediaType: string | undefined;
  /** True for an answer that has no body at all. */
  readonly isEmpty?: boolean;
  readonly variant: ResponseVariant;
}

/** The compiled schemas of one operation; each returns copies and compiles nothing. */
export interface OperationValidators {
  /** Checks the JSON value of a request body. */
  readonly request: (value: unknown) => Violation[];
  /** Checks status and content type at once and returns the check of the JSON value; `undefined` is a body that is no JSON. */
  readonly response: (head: AnswerHead) => (json: unknown) => Violation[];
}
