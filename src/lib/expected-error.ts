/**
 * An error that is an ordinary outcome, such as a refusal. It has no stack trace: capturing one costs more than the rest
 * of a refusal, and refusals must be cheapest when there are most of them. Its cause, if any, keeps its own trace.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = limit;
  }
}
