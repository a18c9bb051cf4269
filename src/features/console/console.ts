import express, { type RequestHandler } from 'express';
import { needsSignIn } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { createSignOut } from '../../engine/http/admin-guard.ts';
import { adminRequestFields } from '../../engine/http/admin-log.ts';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import type { PageFailed } from '../../engine/http/operator-page.ts';
import { createWriteGuard } from '../../engine/http/write-guard.ts';
import { consoleHeaders } from './console-headers.ts';
import type { ConsoleSources } from './console-sources.ts';
import { createTrafficHistory } from './traffic-history.ts';

/** Shows operators the gateway in a browser (docs/console.md). It lists the pages of all features. */
export const operatorConsole = {
  name: 'console',
  // The pages show the configuration, so each reload starts the feature again.
  dependsOn: (settings) => settings,
  start(context) {
    const { clock, logger, traffic: counts, lasting } = context;
    const traffic = lasting(
      () => createTrafficHistory(counts(), clock),
      (one) => one.close(),
    );
    const failed: PageFailed = (error, request) =>
      logger.error({ ...adminRequestFields(request), err: error }, 'the console failed');
    const sources: ConsoleSources = { ...context, traffic, failed };
    return {
      open() {
        traffic.start();
        return Promise.resolve();
      },
      use: () => traffic.follow(counts()),
      get adminRoutes() {
        return routesOf(sources);
      },
    };
  },
} as const satisfies Feature;

/** The changes that the console's own pages make, by the ends of their paths. */
const ACTIONS = { '/api/cache/purge': 'purge', '/api/configuration/reload': 'reload', '/api/try': 'try' };

/** The other words in the paths of the console's own data. */
const WORDS = ['contract', 'explain', 'fleet', 'permissions', 'status', 'traffic', 'upstream'];

function routesOf(sources: ConsoleSources): AdminRoute[] {
  const { settings, pages, failed } = sources;
  const guard = createWriteGuard(needsSignIn(settings));
  const shared = { access: 'operator', way: 'console' } as const;
  return [
    { path: '/', access: 'anyone', handler: express.Router().get('/', (_req, res) => res.redirect(303, 'console/')) },
    {
      path: '/console/sign-out',
      access: 'anyone',
      way: 'console',
      handler: createSignOut({ token: settings.adminToken, operators: settings.operators }),
    },
    ...pages().flatMap((page): AdminRoute[] => {
      const { name, data, actions = {}, words = [] } = page;
      if (data === undefined) return [];
      const handler = express.Router().use(
        consoleHeaders,
        onFirstRequest(async () => data(guard, failed)),
      );
      return [{ ...shared, path: `/console/api/${name}`, actions, words, handler }];
    }),
    {
      ...shared,
      path: '/console',
      actions: ACTIONS,
      words: WORDS,
      handler: onFirstRequest(async () => (await import('./create-console.ts')).createConsole(sources)),
    },
  ];
}

/** Returns a handler that is loaded for the first request. If loading fails, the next request tries again. */
function onFirstRequest(load: () => Promise<RequestHandler>): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    handler ??= load().catch((error: unknown) => {
      handler = undefined;
      throw error;
    });
    const handle = await handler;
    await handle(req, res, next);
  };
}
