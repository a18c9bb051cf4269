import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { createTrace, type Trace } from '../model/trace.ts';
import { toExchange, valuesOf } from '../pipeline/dispatch.ts';
import { passUndocumented } from '../pipeline/judge-undocumented.ts';
import type { KnownOperation, KnownPassage } from '../pipeline/known-targets.ts';
import type { Reply } from '../pipeline/reply.ts';
import { clientGone } from './client-gone.ts';
import { LateArrival } from './late-arrival.ts';
import { passOn } from './pass-on.ts';
import { createPublicApp, type PublicAppServices } from './public-app.ts';
import { readArrival } from './read-arrival.ts';
import { createReadClient, type ReadClient } from './read-client.ts';
import { createRecogniser, type Recognised } from './recognise.ts';
import { recordAtClose, recordAtEnd } from './record-trace.ts';
import { setState } from './request-state.ts';
import { writePlanned } from './write-planned.ts';

/**
 * Answers the public side. A request that is recognised goes straight to its plan, because Express and the reading of a
 * whole request take longer than an answer from memory does; every other one goes through the Express app.
 */
export function createPublicHandler(services: PublicAppServices): RequestListener {
  const app = createPublicApp(services);
  const recognise = createRecogniser(services);
  const side = { app, services, readClient: createReadClient(app, services.trustedProxies) };
  return (req, res) => {
    const recognised = recognise(req);
    if (recognised === undefined) app(req, res);
    else answer(req, res, recognised, side);
  };
}

interface PublicSide {
  readonly app: Express;
  readonly services: PublicAppServices;
  readonly readClient: ReadClient;
}

function answer(req: IncomingMessage, res: ServerResponse, recognised: Recognised, side: PublicSide): void {
  const { known, principal, authentication, identity } = recognised;
  const { requestId, traceparent, receivedAt } = identity;
  const trace = createTrace({ requestId, traceparent, method: 'GET', startedAt: receivedAt });
  trace.authentication = authentication;
  if (principal.name !== undefined) trace.caller = principal.name;
  if (known.plan === undefined) pass(req, res, { recognised, known, trace }, side);
  else answerByPlan(req, res, { recognised, known, trace }, side);
}

/** A recognised request with what it asks for. */
interface Answering<Known> {
  readonly recognised: Recognised;
  readonly known: Known;
  readonly trace: Trace;
}

/** Streams a request past the contract. */
function pass(
  req: IncomingMessage,
  res: ServerResponse,
  { recognised: { principal, identity }, known, trace }: Answering<KnownPassage>,
  { app, services, readClient }: PublicSide,
): void {
  recordAtClose(trace, req, res, undefined, services);
  const fail = failing(req, res, trace, app);
  try {
    const arrival = readArrival(req, readClient(req), identity, services.arrival);
    passUndocumented(services.house, arrival, trace, principal, known.verdict);
    passOn({ req, res, arrival, principal, trace }, services).catch(fail);
  } catch (thrown) {
    fail(thrown);
  }
}

function answerByPlan(
  req: IncomingMessage,
  res: ServerResponse,
  { recognised: { principal, identity, fields }, known, trace }: Answering<KnownOperation>,
  { app, services, readClient }: PublicSide,
): void {
  const { plan } = known;
  const template = plan.operation.path;
  trace.operation = plan.operation.id;
  trace.requests = known.requests;
  const fail = failing(req, res, trace, app);
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
      readArrival(req, readClient(req), identity, services.arrival),
    );
    const exchange = toExchange(services.house, plan, {
      arrival,
      principal,
      target: known.target,
      asked: known.asked,
      values: known.values ?? (() => valuesOf(services.house.contract, plan, arrival)),
      trace,
      clientGone: () => clientGone(res),
    });
    const reply = plan.handle(exchange);
    if (reply instanceof Promise) {
      recordAtClose(trace, req, res, template, services);
      reply.then(send).catch(fail);
    } else {
      send(reply)?.catch(fail);
      recordAtEnd(trace, req, res, template, services);
    }
  } catch (thrown) {
    recordAtClose(trace, req, res, template, services);
    fail(thrown);
  }
}

/** Hands what is thrown to the app, so that it is caught where everything else is. */
function failing(req: IncomingMessage, res: ServerResponse, trace: Trace, app: Express): (thrown: unknown) => void {
  return (thrown) => {
    setState(req, { trace, failure: { thrown } });
    app(req, res);
  };
}
