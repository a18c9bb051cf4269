import type { Request, RequestHandler } from 'express';

/** The message that explains why the console is read-only. */
export const READ_ONLY_REASON =
  'The console is read-only. To make changes here, set PORTICO_ADMIN_TOKEN (adminToken) and restart.';

/**
 * Allows writes only if a token is set, only as JSON, and only from the console's own pages. Browsers add Basic
 * credentials to requests from other sites too, so such requests must prove their origin. Browsers never add a Bearer
 * token automatically.
 */
export function createWriteGuard(writable: boolean): RequestHandler {
  return (req, res, next) => {
    if (!writable) res.status(403).json({ error: READ_ONLY_REASON });
    else if (!isOwn(req)) res.status(403).json({ error: 'Only the pages of the console may make changes this way.' });
    else if (req.is('application/json') === false)
      res.status(415).json({ error: 'The content type must be application/json.' });
    else next();
  };
}

// The guard of the admin listener has already checked that an Origin header, if present, names the console.
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined || /^bearer /i.test(headers.authorization ?? '');
}
