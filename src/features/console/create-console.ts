import express, { type RequestHandler } from 'express';
import { createReferenceRouter } from './api-docs/create-api-docs-router.ts';
import type { ConsoleSources } from './console-sources.ts';
import { createApi } from './create-api.ts';
import { staticFiles } from './static-files.ts';

/** Creates the request handler mounted at `/console`. It serves the console's pages and their data. */
export function createConsole(sources: ConsoleSources): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  const files = staticFiles();
  router.use(consoleHeaders);
  router.use('/api', createReferenceRouter(sources.reference), createApi(sources));
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

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * Sets the headers for all console responses. They forbid inline code, resources from other origins, caching and
 * referrers.
 */
export const consoleHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  next();
};
