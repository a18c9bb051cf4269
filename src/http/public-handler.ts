import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request } from 'express';
import { createTrace } from '../model/trace.ts';
import { toExchange, valuesOf } from '../pipeline/dispatch.ts';
import type { Reply } from '../pipeline/reply.ts';
import { clientGone } from './client-gone.ts';
import { LateArrival } from './late-arrival.ts';
import { createPublicApp, type Failures, type PublicAppServices } from './public-app.ts';
import { readArrival } from './read-arrival.ts';
import { createRecogniser, type Recognised } from './recognise.ts';
import { recordAtClose, recordAtEnd } from './record-trace.ts';
import { writePlanned } from './write-planned.ts';

/**
 * Answers the public side. A request that is recognised goes straight to its plan, because Express and the reading of a
 * whole request take longer than an answer from memory does; every other one goes through the Express app.
 */
export function createPublicHandler(services: PublicAppServices): RequestListener {
  const failures: Failures = new WeakMap();
  const app = createPublicApp(services, failures);
  const recognise = createRecogniser(services);
  return (req, res) => {
    const recognised = recognise(req);
    if (recognised === undefined) app(req, res);
    else answer(req, res, recognised, { app, failures, services });
  };
}

interface PublicSide {
  readonly app: Express;
  readonly failures: Failures;
  readonly services: PublicAppServices;
}

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  { known, principal, authentication, identity, fields }: Recognised,
  { app, failures, services }: PublicSide,
): void {
  const { plan } = known;
  const { requestId, traceparent, receivedAt } = identity;
  const trace = createTrace({ requestId, traceparent, method: 'GET', startedAt: receivedAt });
  trace.operation = plan.operation.id;
  trace.authentication = authentication;
  trace.requests = known.requests;
  if (principal.name !== undefined) trace.caller = principal.name;
  const fail = (thrown: unknown) => {
    failures.set(req, { trace, thrown });
    app(req, res);
  };
  const send = (reply: Reply) => {
    const written = writePlanned(res, plan, reply, { method: 'GET', fields, trace }, services);
    if (written instanceof Promise) return written.then(sent);
    return sent(written);
  };
  const sent = (bytes: number) => {
    trace.bytes = bytes;
  };
  try {
    const arrival = new LateArrival('GET', identity, () =>
      readArrival(toExpress(req, app), identity, services.arrival),
    );
    const exchange = toExchange(services.house, plan, {
      arrival,
      principal,
      target: known.target,
      asked: known.asked,
      values: () => valuesOf(services.house.contract, plan, arrival),
      trace,
      clientGone: () => clientGone(res),
    });
    const reply = plan.handle(exchange);
    if (reply instanceof Promise) {
      recordAtClose(trace, req, res, plan, services);
      reply.then(send).catch(fail);
    } else {
      send(reply)?.catch(fail);
      recordAtEnd(trace, req, res, plan, services);
    }
  } catch (thrown) {
    recordAtClose(trace, req, res, plan, services);
    fail(thrown);
  }
}

/** Gives a bare request what Express adds to it: the client's address behind trusted proxies, and what it accepts. */
function toExpress(req: IncomingMessage, app: Express): Request {
  return Object.setPrototypeOf(req, app.request) as Request;
}
