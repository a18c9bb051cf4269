import type { Logger } from 'pino';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createAcceptedCodings } from '../cache/representation.ts';
import type { ReloadResult } from '../config/load-settings.ts';
import { noteAction, noteRoute, reportActions } from './admin-actions.ts';
import { adminRequestFields, logAdminRequests, segmentsOf } from './admin-log.ts';
import type { AdminRoute } from './admin-route.ts';
import { reloadNote } from '../config/reload-note.ts';
import { type AdminGuardOptions, CLOSED_POLICY, createAdminGuard } from './admin-guard.ts';
import type { OperatorAction } from '../model/operator-action.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { UpstreamHealth } from '../upstream/upstream-health.ts';
import { LedgerUnavailable } from '../model/ledger-entry.ts';
import type { Clock } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';

/** Whether the gateway is ready and, if not, why. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** The services and state that the admin side shows or changes. */
export interface AdminAppServices {
  readonly guard: AdminGuardOptions;
  readonly readiness: () => Readiness;
  /** The legacy server's health, which does not affect readiness. */
  readonly upstreamHealth: () => UpstreamHealth;
  readonly metrics: Pick<Metrics, 'exposition' | 'formatFor' | 'contentTypes'>;
  /** Purges the stored responses that have any of these tags, or all stored responses. Returns the number removed. */
  readonly purge: (tags: readonly string[] | 'all') => number | Promise<number>;
  /** Reloads the configuration. */
  readonly reload: () => Promise<ReloadResult>;
  /** Called with each action of an operator. */
  readonly acted: (action: OperatorAction) => unknown;
  readonly clock: Clock;
  readonly logger: Logger;
}

const compress = promisify(gzip);

/** The admin side. */
export interface AdminApp {
  readonly app: Express;
  /** Returns a function that serves these routes besides the engine's own, instead of the earlier ones. It cannot fail. */
  prepare(routes: readonly AdminRoute[]): () => void;
}

/** Creates the admin side: health checks, metrics, purges, reloads, and the features' routes (docs/rules.md §12). */
export function createAdminApp(services: AdminAppServices): AdminApp {
  const app = express();
  const guard = createAdminGuard(services.guard);
  const own = engineRoutes(services);
  const mountAll = (routes: readonly AdminRoute[]) => mount([...own, ...routes], guard);
  let mounted = mountAll([]);
  app.use(logAdminRequests(services.logger, () => mounted.words));
  app.use(reportActions(services.acted, services.clock));
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_req, res, next) => {
    // The console's pages replace this content security policy with their own.
    res.set({
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': CLOSED_POLICY,
    });
    next();
  });
  app.use((req, res, next) => mounted.router(req, res, next));
  app.use((_req, res) => void res.status(404).json({ error: 'This page does not exist on the admin side.' }));
  app.use(createAdminCatch(services));
  return {
    app,
    prepare(routes) {
      const next = mountAll(routes);
      return () => {
        mounted = next;
      };
    },
  };
}

/** Returns the router of all routes, and the words in their paths that the log shows. */
function mount(routes: readonly AdminRoute[], guard: RequestHandler) {
  const router = express.Router();
  for (const route of routes) {
    const access = route.access === 'operator' ? [guard] : [];
    router.use(route.path, noteRoute(route), ...access, route.handler);
  }
  const words = routes.flatMap(({ path, actions = {}, words: more = [] }) =>
    [path, ...Object.keys(actions)].flatMap(segmentsOf).concat(more),
  );
  return { router, words: new Set(words) };
}

const open = (path: string, handler: RequestHandler): AdminRoute => ({
  path,
  access: 'anyone',
  handler: express.Router().get('/', handler),
});

/** Returns the routes of every gateway. */
function engineRoutes(services: AdminAppServices): AdminRoute[] {
  const acceptedCodings = createAcceptedCodings();
  return [
    open('/livez', (_req, res) => void res.json({ status: 'alive' })),
    open('/readyz', (_req, res) => {
      const { ready, reasons } = services.readiness();
      res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready', reasons });
    }),
    open('/upstreamz', (_req, res) => {
      const health = services.upstreamHealth();
      res.status(health.status === 'failing' ? 503 : 200).json(health);
    }),
    open('/metrics', async (req, res) => {
      const { metrics } = services;
      const format = metrics.formatFor(req.headers.accept);
      const text = await metrics.exposition(format);
      res.set({ 'Content-Type': metrics.contentTypes[format], Vary: 'Accept, Accept-Encoding' });
      // A metric's name is repeated on every line, so compression makes the response about twenty times smaller.
      // Compression runs on another thread.
      if (!acceptedCodings(req.headers['accept-encoding']).includes('gzip')) res.send(text);
      else res.set('Content-Encoding', 'gzip').send(await compress(text, { level: constants.Z_BEST_SPEED }));
    }),
    {
      path: '/cache/purge',
      access: 'operator',
      actions: { '/': 'purge' },
      handler: express.Router().post('/', express.json({ limit: 65_536 }), purge(services)),
    },
    {
      path: '/reload',
      access: 'operator',
      actions: { '/': 'reload' },
      handler: express.Router().post('/', async (_req, res) => {
        const result = await services.reload();
        noteAction(res, reloadNote(result));
        res.status(result.outcome === 'applied' ? 200 : 422).json(result);
      }),
    },
  ];
}

function purge(services: AdminAppServices): RequestHandler {
  return async (req, res) => {
    const body: unknown = req.body;
    const request = membersOf(body);
    const { tags, all } = request;
    const named = Array.isArray(tags) && tags.length > 0 && tags.every((tag) => typeof tag === 'string');
    if (all !== true && !named) {
      res.status(400).json({ error: 'Send {"all": true} or {"tags": ["TAG", …]}.' });
      return;
    }
    const wanted = all === true ? 'all' : (tags as string[]);
    noteAction(res, { subject: { tags: wanted } });
    const purged = await services.purge(wanted);
    noteAction(res, { after: { purged } });
    res.json({ purged });
  };
}

/**
 * Logs server errors and writes their responses. Unlike Express's default handler, it sends no details to the client.
 */
function createAdminCatch(services: AdminAppServices): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    const status = (error as { status?: unknown } | null)?.status;
    if (error instanceof LedgerUnavailable && !res.headersSent) {
      res.status(503).json({ error: 'The shared ledger cannot be read, because its server is unavailable.' });
      return;
    }
    const isClientError = typeof status === 'number' && status >= 400 && status < 500;
    if (!isClientError)
      services.logger.error({ ...adminRequestFields(req), err: error }, 'a request to the admin side failed');
    if (res.headersSent) res.destroy();
    else if (isClientError) res.status(status).json({ error: 'The request cannot be read.' });
    else res.status(500).json({ error: 'Internal error on the admin side.' });
  };
}
