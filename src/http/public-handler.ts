import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Principal } from '../model/principal.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import { dispatch, type Dispatched } from '../pipeline/dispatch.ts';
import type { House } from '../pipeline/house.ts';
import { type ArrivalOptions, createArrivalReader, type HttpArrival } from './arrival.ts';
import { clientGone } from './client-gone.ts';
import { edgeHeaders } from './edge-headers.ts';
import { recordAtClose, recordAtEnd, type RecordTraceServices } from './record-trace.ts';
import { writeError, type WriteErrorOptions } from './write-error.ts';
import { writeReply, type WriteReplyOptions } from './write-reply.ts';

/** A request for an undocumented path that the policy allows. */
export interface PassedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: Arrival;
  readonly principal: Principal;
  readonly trace: Trace;
  /** Returns the headers that the edge adds to a response that has these already. */
  readonly extra: (present: HeaderPairs) => HeaderPairs;
}

/** What the public side consists of. */
export interface PublicServices extends WriteErrorOptions, WriteReplyOptions, RecordTraceServices {
  readonly house: House;
  readonly arrival: ArrivalOptions;
  /** Forwards a request for an undocumented path; throws while nothing is written yet. */
  readonly pass: (passed: PassedRequest) => Promise<void>;
  /** Returns why the head of a request is refused. Our own listener has checked it already, other listeners have not. */
  readonly checkHead?: (req: IncomingMessage) => GatewayError | undefined;
}

/** A request on its way through the handler. */
interface Handled {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: HttpArrival;
  readonly trace: Trace;
}

/**
 * Makes the function that handles every request of the public side, from its head to the record of its trace. The listener
 * calls it, and so does an Express app that `createPortico` is mounted in.
 */
export function createPublicHandler(services: PublicServices): RequestListener {
  const readArrival = createArrivalReader(services.arrival);
  return (req, res) => {
    const arrival = readArrival(req);
    const { requestId, traceparent, method, receivedAt: startedAt } = arrival;
    const request = { req, res, arrival, trace: createTrace({ requestId, traceparent, method, startedAt }) };
    // Nothing waits for a reply from the cache: it is written and recorded in this turn, without a listener.
    const pending = handle(request, services);
    if (pending === undefined) recordAtEnd(request, services);
    else recordAtClose(request, services);
  };
}

/** Returns a promise where the reply has to be waited for; errors end in `writeError`, so that it never rejects. */
function handle(request: Handled, services: PublicServices): Promise<void> | undefined {
  const { req, res, arrival, trace } = request;
  const fail = (thrown: unknown) => writeError(thrown, req, res, trace, services);
  try {
    const fault = services.checkHead?.(req);
    if (fault !== undefined) throw fault;
    arrival.checkExpectation();
    const dispatched = dispatch(services.house, arrival, trace, () => clientGone(res));
    const pending =
      dispatched instanceof Promise
        ? dispatched.then((finished) => respond(request, finished, services))
        : respond(request, dispatched, services);
    return pending?.catch(fail);
  } catch (thrown) {
    fail(thrown);
    return undefined;
  }
}

function respond(request: Handled, dispatched: Dispatched, services: PublicServices): Promise<void> | undefined {
  const { req, res, arrival, trace } = request;
  if (dispatched.kind === 'passthrough') {
    trace.route = 'passthrough';
    const extra = (present: HeaderPairs) => edgeHeaders(trace, services, present);
    return services.pass({ req, res, arrival, principal: dispatched.principal, trace, extra });
  }
  const { plan, reply } = dispatched;
  const written = writeReply(res, plan, reply, arrival, trace, services);
  if (written instanceof Promise) return written.then((bytes) => void (trace.bytes = bytes));
  trace.bytes = written;
  return undefined;
}
