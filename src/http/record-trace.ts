import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Trace } from '../model/trace.ts';

/** What recording needs. */
export interface RecordTraceServices {
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
  if (res.writableEnded && !res.destroyed && res.socket?.writableLength === 0) record(request, true, services);
  else recordAtClose(request, services);
}

function record({ res, trace }: RecordedRequest, whole: boolean, services: RecordTraceServices): void {
  // If the connection broke before the end, the client did not get a complete response, whatever its status was.
  trace.status = whole ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  services.record(trace);
}
