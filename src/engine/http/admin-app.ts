import type { Logger } from 'pino';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createAcceptsGzip } from '../cache/representation.ts';
import type { ReloadResult } from '../config/load-settings.ts';
import { adminRequestFields, logAdminRequests } from './admin-log.ts';
import { reloadNote } from '../config/reload-note.ts';
import { type AdminGuardOptions, CLOSED_POLICY, createAdminGuard, createSignOut } from './admin-guard.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { UpstreamHealth } from '../upstream/upstream-health.ts';
import { LedgerUnavailable } from '../model/ledger-entry.ts';
import type { Clock } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { auditEntryJson } from '../../features/trail/audit-entry.ts';
import { auditRequests, noteAudit } from '../../features/trail/audit-requests.ts';
import type { AuditTrail } from '../../features/trail/audit-trail.ts';

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
  /** Lists, sets and ends overrides. */
  readonly overrides: RequestHandler;
  /** The console, served under `/console`. Undefined if the console is disabled. */
  readonly console?: RequestHandler;
  /** The record of all changes on the admin side. */
  readonly trail: Pick<AuditTrail, 'record' | 'entries'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const compress = promisify(gzip);

/** Creates the admin side's Express app: health checks, metrics, purges and the console (docs/rules.md §12). */
export function createAdminApp(services: AdminAppServices): Express {
  const app = express();
  const acceptsGzip = createAcceptsGzip();
  const guard = createAdminGuard(services.guard);
  app.use(logAdminRequests(services.logger));
  app.use(auditRequests(services.trail, services.clock));
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
  app.get('/livez', (_req, res) => void res.json({ status: 'alive' }));
  app.get('/readyz', (_req, res) => {
    const { ready, reasons } = services.readiness();
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready', reasons });
  });
  app.get('/upstreamz', (_req, res) => {
    const health = services.upstreamHealth();
    res.status(health.status === 'failing' ? 503 : 200).json(health);
  });
  app.get('/metrics', async (req, res) => {
    const { metrics } = services;
    const format = metrics.formatFor(req.headers.accept);
    const text = await metrics.exposition(format);
    res.set({ 'Content-Type': metrics.contentTypes[format], Vary: 'Accept, Accept-Encoding' });
    // A metric's name is repeated on every line, so compression makes the response about twenty times smaller.
    // Compression runs on another thread.
    if (!acceptsGzip(req.headers['accept-encoding'])) res.send(text);
    else res.set('Content-Encoding', 'gzip').send(await compress(text, { level: constants.Z_BEST_SPEED }));
  });
  app.post('/cache/purge', guard, express.json({ limit: 65_536 }), purge(services));
  app.post('/reload', guard, async (_req, res) => {
    const result = await services.reload();
    noteAudit(res, reloadNote(result));
    res.status(result.outcome === 'applied' ? 200 : 422).json(result);
  });
  app.use('/overrides', guard, services.overrides);
  app.get('/audit', guard, async (_req, res) => {
    res.json({ entries: (await services.trail.entries()).map(auditEntryJson).toReversed() });
  });
  if (services.console !== undefined) {
    app.get('/', (_req, res) => res.redirect(303, 'console/'));
    app.get('/console/sign-out', createSignOut(services.guard));
    app.use('/console', guard, services.console);
  }
  app.use((_req, res) => void res.status(404).json({ error: 'This page does not exist on the admin side.' }));
  app.use(createAdminCatch(services));
  return app;
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
    noteAudit(res, { subject: { tags: wanted } });
    const purged = await services.purge(wanted);
    noteAudit(res, { after: { purged } });
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
