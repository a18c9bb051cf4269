import type { Request, RequestHandler } from 'express';

/** Why nothing can be changed while no token is set. */
export const READ_ONLY_REASON =
  'The console only shows: set PORTICO_ADMIN_TOKEN (adminToken) and restart to change things here.';

/**
 * Lets writes through where a token is set, as JSON, and from the console's own pages: a browser adds Basic credentials
 * to requests of foreign pages too, so that those must tell where they come from. A Bearer token is never added by
 * itself.
 */
export function createWriteGuard(writable: boolean): RequestHandler {
  return (req, res, next) => {
    if (!writable) res.status(403).json({ error: READ_ONLY_REASON });
    else if (!isOwn(req)) res.status(403).json({ error: 'Only the pages of the console may change things this way.' });
    else if (req.is('application/json') === false) res.status(415).json({ error: 'Send application/json.' });
    else next();
  };
}

// That a told origin is this one was seen by the guard of the admin side.
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined || /^bearer /i.test(headers.authorization ?? '');
}
