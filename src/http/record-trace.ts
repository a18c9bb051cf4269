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
  const { requestId, traceparent, receivedAt } = identity;
  const trace = createTrace({ requestId, traceparent, method: req.method, startedAt: receivedAt });
  const target = req.url;
  res.once('close', () => {
    // A connection that was broken before the end of the answer got no whole answer, whatever its head said.
    trace.status = res.writableFinished ? res.statusCode : 0;
    trace.seconds = Math.max(0, services.clock() - receivedAt) / 1000;
    services.record(trace);
  });
  services.accessLog.watch(req, res, () => ({
    trace,
    template: trace.operation === undefined ? undefined : services.house.plans.get(trace.operation)?.operation.path,
    target,
    caller: trace.caller,
  }));
  return trace;
}
