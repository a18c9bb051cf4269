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

/** Services of the public side. */
export interface PublicServices extends WriteErrorOptions, WriteReplyOptions, RecordTraceServices {
  readonly gateway: CompiledGateway;
  readonly arrival: ArrivalOptions;
  /**
   * Returns the reason to refuse a request head. The gateway's own listener has already checked it, but other listeners
   * have not.
   */
  readonly checkHead?: (req: IncomingMessage) => GatewayError | undefined;
}

/** A request that the handler is processing. */
interface Handled {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: HttpArrival;
  readonly trace: Trace;
}

/**
 * Creates the function that handles every request on the public side, from reading its head to recording its trace. The
 * listener calls it, as does an Express app in which `createPortico` is mounted.
 */
export function createPublicHandler(services: PublicServices): RequestListener {
  const readArrival = createArrivalReader(services.arrival);
  return (req, res) => {
    const arrival = readArrival(req);
    const { requestId, traceparent, method, receivedAt: startedAt, rawTarget: target } = arrival;
    const request = { req, res, arrival, trace: createTrace({ requestId, traceparent, method, startedAt, target }) };
    // A reply from the cache is written and recorded in the same turn, without waiting and without a listener.
    const pending = handle(request, services);
    if (pending === undefined) recordAtEnd(request, services);
    else recordAtClose(request, services);
  };
}

/**
 * Returns a promise if the reply is not available yet. Errors are passed to `writeError`, so the promise never rejects.
 */
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
