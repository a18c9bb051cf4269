import express, { type RequestHandler } from 'express';
import { createReferenceRouter } from './api-docs/create-api-docs-router.ts';
import type { ConsoleSources } from './console-sources.ts';
import { createApi } from './create-api.ts';
import { consoleHeaders } from './console-headers.ts';
import { staticFiles } from './static-files.ts';

/** Creates the request handler mounted at `/console`. It serves the console's pages and their data. */
export function createConsole(sources: ConsoleSources): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  const files = staticFiles(sources.pages());
  router.use(consoleHeaders);
  router.use('/api', createReferenceRouter(sources), createApi(sources));
  router.use(async (req, res, next) => {
    // Relative URLs in the page resolve to the correct folder only if the page's own URL ends with a slash.
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
