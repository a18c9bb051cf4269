import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { authenticate } from './http/authenticate.ts';
import { htmlErrorPage } from './http/legacy-response.ts';
import type { LegacyAnswer } from './http/legacy-response.ts';
import { LegacyRefusal } from './http/errors.ts';
import type { LegacyRoute } from './http/route.ts';
import { readRequest } from './http/route.ts';
import { toWrittenAnswer, writeAnswer } from './http/write-response.ts';
import { bendAnswer } from './faults/change-response.ts';
import { resetConnection, writeWithFaults } from './faults/replace-response.ts';
import type { FaultPlan } from './faults/fault-plan.ts';
import { replaceAnswer } from './faults/replace-response.ts';
import { waitOutSlowness } from './faults/fault-plan.ts';
import { runDueJobs } from './gdpr/jobs.ts';
import type { ReferenceContext } from './reference-context.ts';
import { ROUTES } from './routes.ts';

const BODY_LIMIT = '20mb';

/** What the app needs beside its context. */
export interface ReferenceAppOptions {
  /** The path prefix, '' for none. */
  readonly basePath: string;
  readonly faultPlan: () => FaultPlan;
  /** Aborts when the server closes, which ends every wait. */
  readonly closing: AbortSignal;
}

async function answerRoute(route: LegacyRoute, request: Request, context: ReferenceContext): Promise<LegacyAnswer> {
  try {
    runDueJobs(context.sql, context.clock());
    const caller = authenticate(context.sql, request.headers);
    return await route.answer(readRequest(request, caller), context);
  } catch (error) {
    if (error instanceof LegacyRefusal) return error.answer;
    return htmlErrorPage(500, 'The server encountered an internal error');
  }
}

function allowedMethods(path: string): string {
  const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** Assembles the reference server's Express app: every route, HTML pages for what there is not, faults around all of it. */
export function createReferenceApp(context: ReferenceContext, options: ReferenceAppOptions): Express {
  const respond = async (
    request: Request,
    response: Response,
    operation: number | undefined,
    answer: () => LegacyAnswer | Promise<LegacyAnswer>,
  ): Promise<void> => {
    const faults = options.faultPlan().draw(operation, request.url);
    if (faults.length > 0) {
      const left = new AbortController();
      response.once('close', () => left.abort());
      if (!(await waitOutSlowness(faults, AbortSignal.any([left.signal, options.closing])))) return;
    }
    if (faults.some(({ name }) => name === 'reset')) {
      resetConnection(response);
      return;
    }
    const given = replaceAnswer(faults) ?? bendAnswer(await answer(), faults);
    if (!response.destroyed) writeWithFaults(response, toWrittenAnswer(given), faults);
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  for (const route of ROUTES) {
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put';
    router[method](route.path, (request, response) =>
      respond(request, response, route.operation, () => answerRoute(route, request, context)),
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
  app.use((_request, response) => writeAnswer(response, toWrittenAnswer(htmlErrorPage(404, 'No such page'))));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status = error instanceof Error && 'status' in error && error.status === 413 ? 413 : 400;
    if (!response.headersSent)
      writeAnswer(response, toWrittenAnswer(htmlErrorPage(status, 'The request cannot be read')));
  });
  return app;
}
