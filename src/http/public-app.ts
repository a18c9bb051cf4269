import express, { type Express, type Request, type Response } from 'express';
import type { Clock } from '../lib/clock.ts';
import type { Arrival } from '../model/arrival.ts';
import type { ErrorStyle } from '../model/checks.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import { dispatch } from '../pipeline/dispatch.ts';
import type { House } from '../pipeline/house.ts';
import { visibleHeaders } from '../pipeline/visible-headers.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import { createCatch } from './catch-errors.ts';
import { edgeFields } from './edge-fields.ts';
import { type ArrivalOptions, identify, readArrival } from './read-arrival.ts';
import { beginTrace } from './record-trace.ts';
import { writeReply } from './write-reply.ts';

/** What the public edge is made of. */
export interface PublicAppServices {
  readonly house: House;
  readonly arrival: ArrivalOptions;
  readonly trustedProxies: readonly string[];
  readonly errorsFor: (operationId: string | undefined) => ErrorStyle;
  readonly contractStatusHeader: boolean;
  /** Streams a request past the contract; throws while nothing is written yet. */
  readonly pass: (passed: PassedRequest) => Promise<void>;
  readonly accessLog: AccessLog;
  /** Counts and keeps the trace of a finished request. */
  readonly record: (trace: Trace) => void;
  readonly isDraining: () => boolean;
  readonly clock: Clock;
}

/** A request that goes past the contract. */
export interface PassedRequest {
  readonly req: Request;
  readonly res: Response;
  readonly arrival: Arrival;
  readonly principal: Principal;
  readonly trace: Trace;
  /** Fields that the edge adds to an answer that has these already. */
  readonly extra: (answered: HeaderPairs) => HeaderPairs;
}

/** Answers that are not kept here must not be kept anywhere else either. */
const UNCACHED: HeaderPairs = [['Cache-Control', 'private, no-store']];

/** The public Express app: reads the arrival, dispatches it, writes the reply, and catches in one place. */
export function createPublicApp(services: PublicAppServices): Express {
  const traces = new WeakMap<Request, Trace>();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', services.trustedProxies.length === 0 ? false : [...services.trustedProxies]);

  app.use(async (req: Request, res: Response) => {
    const identity = identify(req, services.clock);
    const trace = beginTrace(req, res, identity, services);
    traces.set(req, trace);
    const arrival = readArrival(req, identity, services.arrival);
    const dispatched = await dispatch(services.house, arrival, trace, () => clientGone(res));
    if (dispatched.kind === 'passthrough') {
      trace.route = 'passthrough';
      const { principal } = dispatched;
      const extra = (answered: HeaderPairs) => edgeFields(trace, services, answered);
      await services.pass({ req, res, arrival, principal, trace, extra });
      return;
    }
    const { plan, reply } = dispatched;
    const finished = plan.transparent || plan.cache !== undefined;
    const visible = finished ? reply : { ...reply, headers: [...visibleHeaders(reply.headers), ...UNCACHED] };
    trace.bytes = await writeReply(res, visible, {
      method: arrival.method,
      ifNoneMatch: plan.transparent ? undefined : req.headers['if-none-match'],
      extra: edgeFields(trace, services, visible.headers),
    });
  });

  app.use(createCatch((req) => traces.get(req), services));
  return app;
}

/** A signal that ends when the client's connection does before the answer is written. */
function clientGone(res: Response): AbortSignal {
  const gone = new AbortController();
  if (res.destroyed && !res.writableFinished) gone.abort();
  else
    res.once('close', () => {
      if (!res.writableFinished) gone.abort();
    });
  return gone.signal;
}
