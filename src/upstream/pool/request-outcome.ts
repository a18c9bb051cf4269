import type { Dispatcher } from 'undici';
import { UpstreamFailure, type UpstreamFailureKind } from '../../model/upstream-failure.ts';
import { sendingFailure, type WireRequest } from '../sending.ts';

/** How a request to an address ended. A `neutral` outcome says nothing about the state of the address. */
export type Outcome = 'succeeded' | 'failed' | 'neutral';

/** Returns the outcome of a request that received a response. */
export const outcomeOfStatus = (status: number): Outcome => (status >= 500 ? 'failed' : 'succeeded');

/** Whether each kind of failure is the fault of the address. */
const OUTCOMES: Readonly<Record<UpstreamFailureKind, Outcome>> = {
  refused: 'failed',
  reset: 'failed',
  truncated: 'failed',
  deadline: 'failed',
  too_large: 'neutral',
  aborted: 'neutral',
  // The gateway refuses these requests before an address is chosen.
  shed: 'neutral',
  circuit_open: 'neutral',
};

/** Returns a handler that forwards every event and, once the request has ended, reports its outcome. */
export function observed(
  request: WireRequest,
  handler: Dispatcher.DispatchHandler,
  end: (outcome: Outcome) => void,
): Dispatcher.DispatchHandler {
  let outcome: Outcome = 'succeeded';
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart(controller, status, headers, reason) {
      outcome = outcomeOfStatus(status);
      handler.onResponseStart?.(controller, status, headers, reason);
    },
    onResponseData: (controller, part) => handler.onResponseData?.(controller, part),
    onResponseEnd(controller, trailers) {
      end(outcome);
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      const failure = sendingFailure(error, request, 'waiting');
      end(failure instanceof UpstreamFailure ? OUTCOMES[failure.kind] : 'neutral');
      handler.onResponseError?.(controller, error);
    },
  };
}
