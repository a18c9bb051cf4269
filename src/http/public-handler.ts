import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors/gateway-error.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import { dispatch, type Dispatched } from '../pipeline/dispatch.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { type ArrivalOptions, createArrivalReader, type HttpArrival } from './arrival.ts';
import { clientGone } from './client-gone.ts';
import { recordAtClose, recordAtEnd, type RecordTraceServices } from './record-trace.ts';
import { writeError, type WriteErrorOptions } from './write-error.ts';
import { writeReply, type WriteReplyOptions } from './write-reply.ts';

/** What the public side consists of. */
export interface PublicServices extends WriteErrorOptions, WriteReplyOptions, RecordTraceServices {
  readonly gateway: CompiledGateway;
  readonly arrival: ArrivalOptions;
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
function handle(request: Handled, services: PublicServices): Promise<unknown> | undefined {
  const { req, res, arrival, trace } = request;
  const fail = (thrown: unknown) => writeError(thrown, req, res, trace, services);
  try {
    const fault = services.checkHead?.(req);
    if (fault !== undefined) throw fault;
    arrival.checkExpectation();
    const dispatched = dispatch(services.gateway, arrival, trace, () => clientGone(res));
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

function respond(
  request: Handled,
  { plan, reply }: Dispatched,
  services: PublicServices,
): Promise<unknown> | undefined {
  const { res, arrival, trace } = request;
  const written = writeReply(res, plan, reply, arrival, trace, services);
  if (written instanceof Promise) return written;
  trace.bytes = written;
  return undefined;
}
