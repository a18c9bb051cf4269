import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import type { ErrorForm } from '../errors/gateway-error.ts';
import type { ErrorStyle } from '../model/checks.ts';

/** Options for the form of error bodies. */
export interface ErrorFormOptions {
  readonly errorsFor: (operationId: string | undefined) => ErrorStyle;
  /** Returns whether the legacy form of an operation's errors is `{errors: {message}}` instead of `{error}`. */
  readonly hasErrorMessage: (operationId: string | undefined) => boolean;
}

/** Returns the form of an error body: the operation's legacy form, or the normalized form that the client accepts. */
export function formOf(
  req: IncomingMessage,
  operationId: string | undefined,
  { errorsFor, hasErrorMessage }: ErrorFormOptions,
): ErrorForm {
  if (errorsFor(operationId) === 'legacy') return hasErrorMessage(operationId) ? 'legacy-message' : 'legacy';
  return accepts(req).type(['application/json', 'application/problem+json']) === 'application/problem+json'
    ? 'problem'
    : 'normalized';
}
