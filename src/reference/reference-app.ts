import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { applyDrift } from './chaos/change-response.ts';
import { type ChaosPlan, waitForSlowRules } from './chaos/chaos-plan.ts';
import { replacementResponse, resetConnection, writeWithChaos } from './chaos/replace-response.ts';
import { runDueJobs } from './gdpr/jobs.ts';
import { authenticate } from './http/authenticate.ts';
import { LegacyRefusal } from './http/errors.ts';
import { htmlErrorPage, type LegacyResponse } from './http/legacy-response.ts';
import { type LegacyRoute, readRequest } from './http/route.ts';
import { serializeResponse, writeResponse } from './http/write-response.ts';
import type { ReferenceContext } from './reference-context.ts';
import { ROUTES } from './routes.ts';

const BODY_LIMIT = '20mb';

/** What the app needs besides its context. */
interface ReferenceAppOptions {
  /** The path prefix, '' for none. */
  readonly basePath: string;
  readonly chaosPlan: () => ChaosPlan;
  /** Aborts when the server closes, which ends all delays. */
  readonly closing: AbortSignal;
}

async function runRoute(route: LegacyRoute, request: Request, context: ReferenceContext): Promise<LegacyResponse> {
  try {
    runDueJobs(context.sql, context.clock());
    const caller = authenticate(context.sql, request.headers);
    return await route.respond(readRequest(request, caller), context);
  } catch (error) {
    if (error instanceof LegacyRefusal) return error.response;
    return htmlErrorPage(500, 'The server encountered an internal error');
  }
}

function allowedMethods(path: string): string {
  const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** Assembles the reference server's Express app: the routes, HTML error pages for all other requests, and chaos. */
export function createReferenceApp(context: ReferenceContext, options: ReferenceAppOptions): Express {
  const respond = async (
    request: Request,
    response: Response,
    operation: number | undefined,
    run: () => LegacyResponse | Promise<LegacyResponse>,
  ): Promise<void> => {
    const rules = options.chaosPlan().draw(operation, request.url);
    if (rules.length > 0) {
      const clientGone = new AbortController();
      response.once('close', () => clientGone.abort());
      if (!(await waitForSlowRules(rules, AbortSignal.any([clientGone.signal, options.closing])))) return;
    }
    if (rules.some(({ name }) => name === 'reset')) {
      resetConnection(response);
      return;
    }
    const legacy = replacementResponse(rules) ?? applyDrift(await run(), rules);
    if (!response.destroyed) writeWithChaos(response, serializeResponse(legacy), rules);
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  for (const route of ROUTES) {
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put';
    router[method](route.path, (request, response) =>
      respond(request, response, route.operation, () => runRoute(route, request, context)),
    );
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const page = htmlErrorPage(405, 'Request method not supported', { Allow: allowedMethods(path) });
    router.all(path, (request, response) => respond(request, response, undefined, () => page));
  }
  router.use((request, response) => respond(request, response, undefined, () => htmlErrorPage(404, 'No such page')));

  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(express.raw({ type: () => true, limit: BODY_LIMIT }));
  app.use(options.basePath === '' ? '/' : options.basePath, router);
  app.use((_request, response) => writeResponse(response, serializeResponse(htmlErrorPage(404, 'No such page'))));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status = error instanceof Error && 'status' in error && error.status === 413 ? 413 : 400;
    if (!response.headersSent)
      writeResponse(response, serializeResponse(htmlErrorPage(status, 'The request cannot be read')));
  });
  return app;
}
