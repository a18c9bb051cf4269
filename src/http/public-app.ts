import express, { type Express, type Request, type Response } from 'express';
import type { PageCache } from '../cache/page-cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { ErrorStyle } from '../model/checks.ts';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { dispatch } from '../pipeline/dispatch.ts';
import type { House } from '../pipeline/house.ts';
import type { Plan } from '../pipeline/plan.ts';
import type { KnownTargets } from '../pipeline/known-targets.ts';
import type { Reply } from '../pipeline/reply.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import { createCatch } from './catch-errors.ts';
import { clientGone } from './client-gone.ts';
import type { EdgeFieldOptions } from './edge-fields.ts';
import { type ArrivalOptions, identify, readArrival } from './read-arrival.ts';
import { createReadClient } from './read-client.ts';
import { beginTrace } from './record-trace.ts';
import { setState, stateOf } from './request-state.ts';
import { passOn } from './pass-on.ts';
import type { PassedRequest } from './passed-request.ts';
import { writePlanned } from './write-planned.ts';

/** What the public edge is made of. */
export interface PublicAppServices {
  readonly house: House;
  readonly arrival: ArrivalOptions;
  readonly trustedProxies: readonly string[];
  readonly errorsFor: (operationId: string | undefined) => ErrorStyle;
  readonly contractStatusHeader: boolean;
  readonly reportIdOf: EdgeFieldOptions['reportIdOf'];
  /** Where the targets of requests that are answered from memory are remembered. */
  readonly knownTargets: KnownTargets;
  /** Gives the gzip form of a kept page. */
  readonly gzip: PageCache['gzip'];
  /** Streams a request past the contract; throws while nothing is written yet. */
  readonly pass: (passed: PassedRequest) => Promise<void>;
  readonly accessLog: AccessLog;
  /** Counts and keeps the trace of a finished request. */
  readonly record: (trace: Trace) => void;
  readonly clock: Clock;
}

/** The public Express app: reads the arrival, dispatches it, writes the reply, and catches in one place. */
export function createPublicApp(services: PublicAppServices): Express {
  const app = express();
  const readClient = createReadClient(app, services.trustedProxies);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', services.trustedProxies.length === 0 ? false : [...services.trustedProxies]);

  app.use(async (req: Request, res: Response) => {
    const failure = stateOf(req)?.failure;
    if (failure !== undefined) throw failure.thrown;
    const identity = identify(req, services.clock);
    const trace = beginTrace(req, res, identity, services);
    setState(req, { trace });
    const arrival = readArrival(req, readClient(req), identity, services.arrival);
    const dispatched = await dispatch(services.house, arrival, trace, () => clientGone(res));
    if (dispatched.kind === 'passthrough') {
      const { principal, verdict } = dispatched;
      if (arrival.method === 'GET' && !verdict.reported)
        services.knownTargets.remember(req.url, { plan: undefined, verdict });
      await passOn({ req, res, arrival, principal, trace }, services);
      return;
    }
    const { plan, reply, exchange } = dispatched;
    // A plan that was replaced while it answered is not remembered.
    const current = services.house.plans.get(plan.operation.id) === plan;
    if (current && isWorthKnowing(arrival.method, plan, reply, trace) && trace.requests !== undefined) {
      const { target, asked } = exchange;
      // Where pages are kept, an answer from memory needs no parameters, and there are many such targets.
      const values = plan.cache === undefined ? exchange.values : undefined;
      services.knownTargets.remember(req.url, { plan, target, asked, values, requests: trace.requests });
    }
    const fields = {
      ifNoneMatch: req.headers['if-none-match'],
      acceptEncoding: req.headers['accept-encoding']?.toString(),
    };
    trace.bytes = await writePlanned(res, plan, reply, { method: arrival.method, fields, trace }, services);
  });

  app.use(createCatch((req) => stateOf(req)?.trace, services));
  return app;
}

/**
 * True for an answer without a fault: the next request for the same target need not be read again. Where pages are kept, a
 * target is known once it was answered from memory, so that those which are asked for once do not fill it.
 */
function isWorthKnowing(
  method: string,
  { transparent, cache }: Plan,
  { keptAs, facts }: Reply,
  { violations }: Trace,
): boolean {
  const isFaultless = keptAs !== undefined || (cache === undefined && facts?.validity === 'valid');
  return method === 'GET' && isFaultless && !transparent && violations.every(isJudgedAgain);
}

/** The stages of a plan judge every request; only its parameters are not read again. */
function isJudgedAgain({ check }: Violation): boolean {
  return check !== 'requests' && check !== 'undocumented';
}
