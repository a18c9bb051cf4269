import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Cancellation } from '../model/arrival.ts';
import { countedAs, type Principal } from '../model/principal.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { authenticateAt, dispatch, type Dispatched } from '../pipeline/dispatch.ts';
import { type ArrivalOptions, createArrivalReader, type HttpArrival } from './arrival.ts';
import { writeError, type WriteErrorOptions } from './write-error.ts';
import { isSent } from './connection.ts';
import { addEdgeHeaders, writeReply, type WriteReplyOptions } from './write-reply.ts';

/** The services and settings that the public side uses. */
export interface PublicServices extends WriteErrorOptions, WriteReplyOptions, RecordTraceServices {
  readonly gateway: CompiledGateway;
  readonly arrival: ArrivalOptions;
  /**
   * Checks a request's head and returns the reason why it must be refused, if any. Undefined if the gateway's own
   * listener has already checked the head.
   */
  readonly checkHead?: (req: IncomingMessage) => GatewayError | undefined;
}

interface Handled {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: HttpArrival;
  readonly trace: Trace;
}

/** The public side's handler. A reload replaces its services. */
export interface PublicHandler {
  readonly handle: RequestListener;
  /**
   * Replaces the services for new requests. Requests in progress continue to use the previous services.
   */
  use(services: PublicServices): void;
}

/**
 * Creates the function that handles every request on the public side: it reads the head, writes the reply and records
 * the trace. It is called either by the gateway's own listener or by an application that mounts the result of
 * `createPortico`.
 */
export function createPublicHandler(first: PublicServices): PublicHandler {
  let current = first;
  let readArrival = createArrivalReader(first.arrival);
  const use = (services: PublicServices) => {
    current = services;
    readArrival = createArrivalReader(services.arrival);
  };
  const handle: RequestListener = (req, res) => {
    const services = current;
    const arrival = readArrival(req);
    const request = { req, res, arrival, trace: traceOf(arrival) };
    // A reply from the cache is written and recorded immediately, so there is no need to listen for its end.
    const pending = handleRequest(request, services);
    if (pending === undefined) recordAtEnd(request, services);
    else recordAtClose(request, services);
  };
  return { handle, use };
}

/** Creates the trace for a request that has just arrived. */
export function traceOf(arrival: HttpArrival): Trace {
  const { requestId, ownSpan, parentSpanId, method, receivedAt: startedAt, rawTarget: target } = arrival;
  return createTrace({ requestId, traceparent: ownSpan, parentSpanId, method, startedAt, target });
}

/**
 * Handles a request. Returns a promise if the reply is not available immediately. The promise never rejects, because
 * all errors are passed to `writeError`.
 */
function handleRequest(request: Handled, services: PublicServices): Promise<unknown> | undefined {
  const { req, res, arrival, trace } = request;
  const fail = (thrown: unknown) => respondWithError(request, thrown, services);
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

function respondWithError(
  { req, res, trace }: Omit<Handled, 'arrival'>,
  thrown: unknown,
  services: WriteErrorOptions,
): void {
  writeError(thrown, req, res, trace, services);
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

interface RecordTraceServices {
  /**
   * Passes a trace to all observers. Must never throw, because an error thrown when a response closes would not be
   * caught.
   */
  readonly record: (trace: Trace) => void;
  readonly clock: Clock;
}

/** A request's trace, and the response whose end completes the trace. */
interface RecordedRequest {
  readonly res: ServerResponse;
  readonly trace: Trace;
}

/** Completes and records a request's trace exactly once, when the response closes. */
export function recordAtClose(request: RecordedRequest, services: RecordTraceServices): void {
  const { res } = request;
  let isRecorded = false;
  // A variable is cheaper than `once`, which would create a function for each request and then remove the listener.
  const end = () => {
    if (!isRecorded) record(request, res.writableFinished, services);
    isRecorded = true;
  };
  if (res.closed) end();
  else res.on('close', end);
}

/**
 * Records a response's trace after the response has been written. If the operating system has received the whole
 * response, the trace is recorded immediately; otherwise, it is recorded when the response closes.
 */
export function recordAtEnd(request: RecordedRequest, services: RecordTraceServices): void {
  const { res } = request;
  if (isSent(res)) record(request, true, services);
  else recordAtClose(request, services);
}

function record({ res, trace }: RecordedRequest, complete: boolean, services: RecordTraceServices): void {
  // If the connection was closed early, the client did not receive the complete response, regardless of its status.
  trace.status = complete ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  services.record(trace);
}

/** A signal that aborts if the client's connection closes before the response is written. */
class ClientGone implements Cancellation {
  readonly reason = undefined;
  readonly #response: ServerResponse;
  #listeners: readonly (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => {
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
 * Receives the trace of every finished request. Observers include the metrics, the features and the access log.
 */
export interface TraceObserver {
  /** The observer's name, which is logged if the observer fails. */
  readonly name: string;
  readonly record: (trace: Trace) => void;
}

/**
 * Returns a function that passes a trace to all observers, one after the other. If an observer throws, the error is
 * reported and the remaining observers are still called.
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

/** A request that a feature serves itself. */
export interface TakenRequest {
  readonly method: string;
  /** The raw path, without the prefix that only clients use. */
  readonly path: string;
  /** The raw query, without the question mark. */
  readonly query: string | undefined;
  /** The address of the client, as seen through trusted proxies. */
  readonly clientAddress: string;
  /** Returns the value of a header, whose name is given in small letters. */
  header(name: string): string | undefined;
  /**
   * Authenticates the caller, as if the check were enforced. Rejects with a `GatewayError` if the caller is refused. Can be
   * called again later: the result is what the configuration in use and the verifier then say.
   */
  authenticate(): Promise<TakenBy>;
  /** Responds with an error. */
  refuse(error: unknown): void;
  /** Writes the head of the response, whose body the feature writes and ends. `headers` alternates names and values. */
  begin(status: number, headers: readonly string[]): void;
}

/** The caller of a request that a feature serves itself. */
export interface TakenBy {
  readonly principal: Principal;
  /** The text under which limits count the caller. */
  readonly countedAs: string;
  /** Returns whether the caller certainly may use an operation. */
  mayUse(operation: string): boolean;
}

/**
 * Creates a request that a feature serves itself. `latest` returns the services that new requests use, which a reload may
 * have replaced since this one arrived.
 */
export function takenRequest(
  { req, res, arrival, path, query }: Taking,
  services: PublicServices,
  latest: () => PublicServices,
): TakenRequest {
  const trace = traceOf(arrival);
  let isRecorded = false;
  return {
    method: arrival.method,
    path,
    query,
    clientAddress: arrival.clientAddress,
    header: (name) => req.headers[name]?.toString(),
    async authenticate() {
      const { gateway, clock } = latest();
      // What is found out while the response is written comes too late for the request's trace.
      const principal = await authenticateAt(gateway, arrival, isRecorded ? traceOf(arrival) : trace, {
        level: 'enforce',
        needsCredential: false,
        needsVerification: true,
        now: clock(),
      });
      const grants = gateway.grantsOf(principal);
      return {
        principal,
        countedAs: countedAs(principal),
        mayUse: (operation) =>
          gateway.mayUse(operation, grants) && principal.access?.useFor?.(operation, arrival.clientAddress) !== false,
      };
    },
    refuse(error) {
      respondWithError({ req, res, trace }, error, services);
      if (!isRecorded) recordAtEnd({ res, trace }, services);
      isRecorded = true;
    },
    begin(status, headers) {
      const list = [...headers];
      addEdgeHeaders(list, trace, services);
      res.writeHead(status, list);
      // The response may last for days, so its end is not that of the request.
      trace.status = status;
      trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
      services.record(trace);
      isRecorded = true;
    },
  };
}

/** A request, and the parts of its target. */
interface Taking {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: HttpArrival;
  readonly path: string;
  readonly query: string | undefined;
}
