import type { Arrival } from '../model/arrival.ts';
import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import type { Exchange } from './exchange.ts';
import type { DecodedResponse } from './decoded-response.ts';
import type { PlanBodyCheck } from './request-rules.ts';

/**
 * Sees the messages of requests as the stages do. Every member is optional: what nobody observes costs nothing. The
 * functions must return at once and must not throw, and they cannot change anything.
 */
export interface MessageObserver {
  /** Called for each request, before its plan runs or before it is refused as undocumented. */
  request?(trace: Trace, arrival: Arrival): void;
  /** Called with the parsed body of a request, before it is checked, and with the body's size in bytes. */
  requestBody?(trace: Trace, body: unknown, bytes: number): void;
  /** Called with each response of the upstream to a documented operation. Its bytes are decoded. */
  response?(exchange: Exchange, operation: Operation, response: DecodedResponse): void;
  /**
   * Called with each response of the upstream that is parsed, before its check. `json` is undefined if the body is not
   * JSON. If the check is off, the trace says so. While somebody observes parsed responses, none is scanned. A body that
   * is known from an earlier response is not parsed again.
   */
  parsedResponse?(exchange: Exchange, operation: Operation, response: DecodedResponse, json: unknown): void;
  /** Called with the status of each response of the upstream to a request for an undocumented path. */
  undocumentedResponse?(arrival: Arrival, status: number): void;
}

/** Joins observers to one, which has only the members that at least one of them has. */
export function joinObservers(observers: readonly MessageObserver[]): MessageObserver {
  const request = join(observers.flatMap((one) => one.request?.bind(one) ?? []));
  const requestBody = join(observers.flatMap((one) => one.requestBody?.bind(one) ?? []));
  const response = join(observers.flatMap((one) => one.response?.bind(one) ?? []));
  const parsedResponse = join(observers.flatMap((one) => one.parsedResponse?.bind(one) ?? []));
  const undocumentedResponse = join(observers.flatMap((one) => one.undocumentedResponse?.bind(one) ?? []));
  return {
    ...(request && { request }),
    ...(requestBody && { requestBody }),
    ...(response && { response }),
    ...(parsedResponse && { parsedResponse }),
    ...(undocumentedResponse && { undocumentedResponse }),
  };
}

function join<Seen extends readonly unknown[]>(
  functions: readonly ((...seen: Seen) => void)[],
): ((...seen: Seen) => void) | undefined {
  if (functions.length < 2) return functions[0];
  return (...seen) => {
    for (const observe of functions) observe(...seen);
  };
}

/** Wraps the checks of request bodies so that each parsed body is passed to the observer before its check. */
export function withBodyObserver(planCheck: PlanBodyCheck, observe: MessageObserver['requestBody']): PlanBodyCheck {
  if (observe === undefined) return planCheck;
  return (planned) => {
    const { check, identifies } = planCheck(planned);
    return {
      identifies,
      check(body, exchange) {
        observe(exchange.trace, body, Buffer.isBuffer(exchange.body) ? exchange.body.length : 0);
        return check(body, exchange);
      },
    };
  };
}
