import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Clock } from '../lib/clock.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { Plan } from '../pipeline/plan.ts';
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

/**
 * Completes, counts and logs the trace of a request whose answer has been written: at once where all of it is in the
 * system's hands, else when the response closes.
 */
export function recordAtEnd(
  trace: Trace,
  { url }: Pick<IncomingMessage, 'url'>,
  res: ServerResponse,
  { operation }: Pick<Plan, 'operation'>,
  services: RecordTraceServices,
): void {
  const end = (whole: boolean) => {
    complete(trace, res, whole, services);
    services.accessLog.write({ trace, template: operation.path, target: url, caller: trace.caller });
  };
  if (res.writableEnded && !res.destroyed && res.socket?.writableLength === 0) end(true);
  else if (res.closed) end(res.writableFinished);
  else res.once('close', () => end(res.writableFinished));
}

function complete(trace: Trace, res: ServerResponse, whole: boolean, services: RecordTraceServices): void {
  // A connection that was broken before the end of the answer got no whole answer, whatever its head said.
  trace.status = whole ? res.statusCode : 0;
  trace.seconds = Math.max(0, services.clock() - trace.startedAt) / 1000;
  services.record(trace);
}
