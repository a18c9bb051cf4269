import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';

/** Who may use the pages of the admin side that show or change more than health and metrics. */
export interface AdminGuardOptions {
  /** True when the admin side listens on loopback only. */
  readonly loopback: boolean;
  readonly token: string | undefined;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Lets operators in (rules, 12): by token when one is set or the side is not on loopback, and on loopback only under a
 * loopback name, so that a page of a foreign site in the operator's browser cannot reach it (DNS rebinding, CSRF).
 */
export function createAdminGuard({ loopback, token }: AdminGuardOptions): RequestHandler {
  return (req, res, next) => {
    const { host = '', origin, authorization = '' } = req.headers;
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
      res.status(403).json({ error: 'Requests from another site are refused.' });
    } else if (token === undefined && !loopback) {
      res.status(403).json({ error: 'Set PORTICO_ADMIN_TOKEN: the admin side is not on loopback.' });
    } else if (token === undefined && !LOOPBACK_HOST.test(host)) {
      res.status(403).json({ error: 'Call the admin side by a loopback name, for example 127.0.0.1.' });
    } else if (token !== undefined && !sameText(authorization, `Bearer ${token}`)) {
      res
        .status(401)
        .set('WWW-Authenticate', 'Bearer realm="Portico admin"')
        .json({ error: 'The admin token is needed.' });
    } else next();
  };
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined;
}

/** Compares digests, so that neither the length nor the place of a difference shows in the time taken. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
