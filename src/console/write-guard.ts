import type { Request, RequestHandler } from 'express';

/** The message of a read-only console. */
export const READ_ONLY_REASON =
  'The console is read-only. To make changes here, set PORTICO_ADMIN_TOKEN (adminToken) and restart.';

/**
 * Allows writes only if a token is set, as JSON, and from the console's own pages: browsers also add Basic credentials
 * to requests of foreign pages, so these requests must prove their origin. Browsers never add a Bearer token on their
 * own.
 */
export function createWriteGuard(writable: boolean): RequestHandler {
  return (req, res, next) => {
    if (!writable) res.status(403).json({ error: READ_ONLY_REASON });
    else if (!isOwn(req)) res.status(403).json({ error: 'Only pages of the console may make changes this way.' });
    else if (req.is('application/json') === false) res.status(415).json({ error: 'Send application/json.' });
    else next();
  };
}

// The guard of the admin listener has already checked that a sent origin is the console's own.
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined || /^bearer /i.test(headers.authorization ?? '');
}
