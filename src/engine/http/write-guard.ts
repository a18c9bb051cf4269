import type { Request, RequestHandler } from 'express';

/** The message that explains why the console does not allow changes. */
export const READ_ONLY_REASON =
  'The console is read-only. To make changes here, set PORTICO_ADMIN_TOKEN (adminToken) or operators, and restart.';

/**
 * Allows a write only if operators must sign in, the body is JSON, and the request comes from one of the console's own pages.
 * The origin must be checked, because browsers also add Basic credentials to requests from other sites, although they
 * never add a Bearer token automatically.
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

// The admin side's guard has already checked that the Origin header, if any, matches the admin side.
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined || /^bearer /i.test(headers.authorization ?? '');
}
