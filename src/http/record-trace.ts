import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Arrival } from '../model/arrival.ts';
import type { Trace } from '../model/trace.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import type { AccessLog } from '../telemetry/access-log.ts';

/** Services that receive the traces of finished requests. */
export interface RecordTraceServices {
  readonly gateway: Pick<CompiledGateway, 'plans'>;
  readonly accessLog: AccessLog;
  readonly record: (trace: Trace) => void;
  readonly clock: Clock;
}

/** A request whose trace will be recorded. */
interface RecordedRequest {
  readonly arrival: Pick<Arrival, 'rawTarget'>;
  readonly res: ServerResponse;
  readonly trace: Trace;
}

/** Completes, counts and logs the trace of a request exactly once, when its response closes. */
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
  if (res.writableEnded && !res.destroyed && res.socket?.writableLength === 0) record(request, true, services);
  else recordAtClose(request, services);
}

function record({ arrival, res, trace }: RecordedRequest, whole: boolean, services: RecordTraceServices): void {
  // If the connection broke before the end, the client did not get a complete response, whatever its status was.
  trace.status = whole ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  try {
    services.record(trace);
  } catch (error) {
    // This runs when a response closes, where no caller would catch the error. The log line of the request reports it
    // instead.
    trace.cause ??= error;
  }
  const template =
    trace.operation === undefined ? undefined : services.gateway.plans.get(trace.operation)?.operation.path;
  services.accessLog.write({ trace, template, target: arrival.rawTarget, caller: trace.caller });
}
