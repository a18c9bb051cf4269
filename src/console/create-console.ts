import express, { type RequestHandler } from 'express';
import { createApi } from './create-api.ts';
import { consoleHeaders } from './console-headers.ts';
import type { ConsoleSources } from './console-sources.ts';
import { createReferenceRouter } from './reference/create-reference-router.ts';
import { staticFiles } from './static-files.ts';

/** The console: its pages and the data behind them, as a handler to be mounted below `/console`. */
export function createConsole(sources: ConsoleSources): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  const files = staticFiles();
  router.use(consoleHeaders);
  router.use('/api', createReferenceRouter(sources.reference), createApi(sources));
  router.use(async (req, res, next) => {
    // Without the slash at its end, the page's own addresses would be those beside it.
    if (req.originalUrl.split('?', 1)[0] === req.baseUrl) {
      res.redirect(303, `${req.baseUrl.slice(1)}/`);
      return;
    }
    const file = req.method === 'GET' || req.method === 'HEAD' ? files.get(req.path) : undefined;
    if (file === undefined) next();
    else res.type(file.mediaType).send(await file.read());
  });
  return router;
}
