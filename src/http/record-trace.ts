import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Clock } from '../lib/clock.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { House } from '../pipeline/house.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import type { RequestIdentity } from './read-arrival.ts';

/** Who hears of a finished request. */
export interface RecordTraceServices {
  readonly house: Pick<House, 'plans'>;
  readonly accessLog: AccessLog;
  readonly record: (trace: Trace) => void;
  readonly clock: Clock;
}

/** Starts the trace of a request, and sees to it that it is completed, counted and logged exactly once. */
export function beginTrace(
  req: Request,
  res: Response,
  identity: RequestIdentity,
  services: RecordTraceServices,
): Trace {
  const { requestId, traceparent, receivedAt: startedAt } = identity;
  const trace = createTrace({ requestId, traceparent, method: req.method, startedAt });
  const target = req.url;
  res.once('close', () => complete(trace, res, res.writableFinished, services));
  services.accessLog.watch(req, res, () => ({
    trace,
    template: trace.operation === undefined ? undefined : services.house.plans.get(trace.operation)?.operation.path,
    target,
    caller: trace.caller,
  }));
  return trace;
}

/** Sees to it that the trace of a recognised request is completed, counted and logged when its response closes. */
export function recordAtClose(
  trace: Trace,
  req: Pick<IncomingMessage, 'url'>,
  res: ServerResponse,
  template: string | undefined,
  services: RecordTraceServices,
): void {
  const end = () => record(trace, req, res, template, services, res.writableFinished);
  if (res.closed) end();
  else res.once('close', end);
}

/** The same for a response that is written: at once where all of it is in the system's hands. */
export function recordAtEnd(
  trace: Trace,
  req: Pick<IncomingMessage, 'url'>,
  res: ServerResponse,
  template: string | undefined,
  services: RecordTraceServices,
): void {
  if (res.writableEnded && !res.destroyed && res.socket?.writableLength === 0)
    record(trace, req, res, template, services, true);
  else recordAtClose(trace, req, res, template, services);
}

function record(
  trace: Trace,
  { url }: Pick<IncomingMessage, 'url'>,
  res: ServerResponse,
  template: string | undefined,
  services: RecordTraceServices,
  whole: boolean,
): void {
  complete(trace, res, whole, services);
  services.accessLog.write({ trace, template, target: url, caller: trace.caller });
}

function complete(trace: Trace, res: ServerResponse, whole: boolean, services: RecordTraceServices): void {
  // A connection that was broken before the end of the answer got no whole answer, whatever its head said.
  trace.status = whole ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  try {
    services.record(trace);
  } catch (error) {
    // This runs when a response closes, where nobody would catch it: the line of the request says that it failed.
    trace.cause ??= error;
  }
}
