import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Cancellation } from '../lib/ending.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { dispatch, type Dispatched } from '../pipeline/dispatch.ts';
import { type ArrivalOptions, createArrivalReader, type HttpArrival } from './arrival.ts';
import { writeError, type WriteErrorOptions } from './write-error.ts';
import { isSent } from './connection.ts';
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
    // A reply from the cache is written and recorded immediately, without a listener.
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

/** Services for recording traces. */
interface RecordTraceServices {
  /** Passes a trace to all observers; never throws, because no caller would catch the error when a response closes. */
  readonly record: (trace: Trace) => void;
  readonly clock: Clock;
}

/** A request whose trace will be recorded. */
interface RecordedRequest {
  readonly res: ServerResponse;
  readonly trace: Trace;
}

/** Completes and records the trace of a request exactly once, when its response closes. */
export function recordAtClose(request: RecordedRequest, services: RecordTraceServices): void {
  const { res } = request;
  const end = () => record(request, res.writableFinished, services);
  if (res.closed) end();
  else res.once('close', end);
}

/**
 * Records the trace of a response that has been written, immediately if the operating system has received all of it.
 */
export function recordAtEnd(request: RecordedRequest, services: RecordTraceServices): void {
  const { res } = request;
  if (isSent(res)) record(request, true, services);
  else recordAtClose(request, services);
}

function record({ res, trace }: RecordedRequest, complete: boolean, services: RecordTraceServices): void {
  // If the connection broke before the end, the client did not get a complete response, whatever its status was.
  trace.status = complete ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  services.record(trace);
}

/** Aborts if the client's connection closes before the response is written. */
class ClientGone implements Cancellation {
  readonly reason = undefined;
  readonly #response: ServerResponse;
  #listeners: readonly (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', () => {
      if (this.aborted) for (const listener of this.#listeners) listener();
    });
  }

  get aborted(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }
}

/** Returns a signal that aborts if the client's connection closes before the response is written. */
export function clientGone(response: ServerResponse): Cancellation {
  return new ClientGone(response);
}

/**
 * An observer that receives the trace of every finished request: metrics, the ledger, the ladder, the shadow contract.
 */
export interface TraceObserver {
  /** The name used in the log if the observer fails. */
  readonly name: string;
  readonly record: (trace: Trace) => void;
}

/**
 * Returns a function that passes a trace to each observer in order. If an observer throws, the error is reported and
 * the other observers still run.
 */
export function createTraceRecorder(
  observers: readonly TraceObserver[],
  onFailure: (name: string, error: unknown) => void,
): (trace: Trace) => void {
  return (trace) => {
    for (const observer of observers) {
      try {
        observer.record(trace);
      } catch (error) {
        onFailure(observer.name, error);
      }
    }
  };
}
