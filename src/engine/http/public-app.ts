import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import express, { type Express, type RequestHandler } from 'express';
import { allowedMethods } from '../pipeline/undocumented/policy.ts';
import { createArrivalReader, type HttpArrival } from './arrival.ts';
import {
  createPublicHandler,
  type PublicHandler,
  type PublicServices,
  recordAtEnd,
  type TakenRequest,
  takenRequest,
  traceOf,
} from './public-handler.ts';
import { addEdgeHeaders } from './write-reply.ts';

/**
 * Express middleware on the public side. It runs before the gateway, which handles a request once `next` is called. The
 * request is not yet checked in any way.
 */
export type PublicMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: () => void,
  gateway: PublicPort,
) => void;

/** What middleware on the public side can use of the gateway. */
export interface PublicPort {
  /**
   * Returns the methods that the contract documents for a request's path, or that a feature serves there. Returns undefined
   * if the path is undocumented or the gateway will refuse the request because of its head.
   */
  documentedMethods(req: IncomingMessage): readonly string[] | undefined;
  /**
   * Responds to a request with an empty body, with the headers that the gateway adds to every response. Records the
   * request in the log and the metrics. `headers` alternates names and values.
   */
  respond(req: IncomingMessage, res: ServerResponse, status: number, headers: readonly string[]): void;
  /**
   * Takes over a request to something that a feature serves itself. The request is counted and logged once it is refused
   * or its response begins. Returns undefined if the gateway will refuse the request because of its head.
   */
  take(req: IncomingMessage, res: ServerResponse): TakenRequest | undefined;
}

/** The services and settings of the public side and of the middleware in front of it. */
export interface PublicAppServices extends PublicServices {
  /** The middleware of the features, in their order. */
  readonly middleware: readonly PublicMiddleware[];
  /** Returns the methods that a feature serves at a path of its own. */
  readonly methodsAt: (path: string) => readonly string[] | undefined;
}

/** The public side's Express app. A reload replaces its services, including the middleware. */
export interface PublicApp extends Pick<PublicHandler, 'handle'> {
  /** The classes of a server's requests and responses with which Express has the least work. */
  readonly messages: MessageClasses;
  use(services: PublicAppServices): void;
}

/**
 * Creates the Express app of the public side, which consists of the features' middleware and the gateway. Express
 * decides nothing itself: there are no routes, and the gateway also handles requests whose targets Express cannot parse.
 */
export function createPublicApp(first: PublicAppServices): PublicApp {
  const gateway = createPublicHandler(first);
  let current = first;
  const latest = () => current;
  let port = createPort(first, latest);
  const app = express();
  app.disable('x-powered-by').disable('etag').disable('query parser');
  const messages = messageClassesOf(app);
  // Express does some work for each function, so there is only one.
  const handleRequest: RequestHandler = (req, res) => {
    const { middleware } = current;
    if (middleware.length === 0) gateway.handle(req, res);
    else runAll(middleware, req, res, () => gateway.handle(req, res), port);
  };
  app.use(handleRequest);
  // Express adds to the prototypes of `req` and `res` what its types promise.
  const listener: (req: IncomingMessage, res: ServerResponse, next: () => void) => void = app;
  const handle: RequestListener = (req, res) => listener(req, res, () => gateway.handle(req, res));
  return {
    handle,
    messages,
    use(services) {
      current = services;
      port = createPort(services, latest);
      gateway.use(services);
    },
  };
}

/** The options of an HTTP server that determine the classes of its requests and responses. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * Express replaces the prototype of each request and response with that of the app, which takes several microseconds
 * and makes every later use of them slower. Instances of these classes already have the app's prototypes.
 */
export function messageClassesOf(app: Express): MessageClasses {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** Runs middleware one after the other, and then calls `next`. */
function runAll(
  [first, ...rest]: readonly PublicMiddleware[],
  req: IncomingMessage,
  res: ServerResponse,
  next: () => void,
  port: PublicPort,
): void {
  if (first === undefined) next();
  else first(req, res, () => runAll(rest, req, res, next, port), port);
}

/** Creates the port. `latest` returns the services that new requests use, which a reload may have replaced. */
function createPort(services: PublicAppServices, latest: () => PublicAppServices): PublicPort {
  const readArrival = createArrivalReader(services.arrival);
  return {
    documentedMethods: (req) =>
      services.checkHead?.(req) === undefined ? documentedMethods(readArrival(req), services) : undefined,
    respond(req, res, status, headers) {
      const trace = traceOf(readArrival(req));
      const list = [...headers];
      addEdgeHeaders(list, trace, services);
      res.writeHead(status, list).end();
      recordAtEnd({ res, trace }, services);
    },
    take(req, res) {
      if (services.checkHead?.(req) !== undefined) return undefined;
      const arrival = readArrival(req);
      try {
        const { path, query } = arrival;
        return takenRequest({ req, res, arrival, path, query }, services, latest);
      } catch {
        // The target is malformed, so the gateway will refuse it.
        return undefined;
      }
    },
  };
}

/** Returns the methods of the operations at a path, or undefined if the path is undocumented or refused. */
function documentedMethods(
  arrival: HttpArrival,
  { gateway, methodsAt }: PublicAppServices,
): readonly string[] | undefined {
  let path: string;
  try {
    ({ path } = arrival);
  } catch {
    // The target is malformed, so the gateway will refuse it.
    return undefined;
  }
  const match = gateway.contract.match(path);
  return match === undefined ? methodsAt(path) : allowedMethods(match.byMethod);
}
