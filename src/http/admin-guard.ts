import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { createFailureLimiter } from '../identity/failure-limiter.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { attemptOf } from './admin-attempt.ts';
import { refuseAdmin } from './refuse-admin.ts';

/** Who may use the pages of the admin side that show or change more than health and metrics. */
export interface AdminGuardOptions {
  /** True when the admin side listens on loopback only. */
  readonly loopback: boolean;
  readonly token: string | undefined;
  /** For the limit of failed attempts; the system's unless given. */
  readonly clock?: Clock;
}

/** How often a wrong token may be tried from one address; beyond it the right one has to wait as well, unless it was at work there. */
const ATTEMPTS = { limit: 20, windowSeconds: 60, maxPairs: 10_000 };

/** For how long an operator is remembered at an address: whoever shares it, behind one proxy, cannot lock them out. */
const AT_WORK = { seconds: 3_600, max: 1_000 };

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Two fields, so that a browser that knows only the first scheme asks for a password: the token, under any name. */
const CHALLENGES = ['Basic realm="Portico admin", charset="UTF-8"', 'Bearer realm="Portico admin"'];

/**
 * Lets operators in (rules, 12): by token when one is set or the side is not on loopback, and on loopback only under a
 * loopback name, so that a page of a foreign site in the operator's browser cannot reach it (DNS rebinding, CSRF).
 */
export function createAdminGuard({ loopback, token, clock = systemClock }: AdminGuardOptions): RequestHandler {
  const failures = createFailureLimiter(ATTEMPTS);
  const atWorkAt = new LRUCache<string, number>({ max: AT_WORK.max });
  const isAtWork = (from: string, now: number) => now - (atWorkAt.get(from) ?? -Infinity) < AT_WORK.seconds * 1000;
  return (req, res, next) => {
    const { host = '', origin } = req.headers;
    const attempt = attemptOf(req);
    const refuse = (status: number, text: string) => refuseAdmin(req, res, status, text);
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
      refuse(403, 'Requests from another site are refused.');
    } else if (token === undefined && !loopback) {
      refuse(403, 'Set PORTICO_ADMIN_TOKEN: the admin side is not on loopback.');
    } else if (token === undefined && !LOOPBACK_HOST.test(host)) {
      refuse(403, 'Call the admin side by a loopback name, for example 127.0.0.1.');
    } else if (token === undefined) {
      next();
    } else if (attempt.token === undefined) {
      res.set('WWW-Authenticate', CHALLENGES);
      refuse(401, 'The admin token is needed.');
    } else {
      const now = clock();
      const { from } = attempt;
      const right = sameText(attempt.token, token);
      const known = right && isAtWork(from, now);
      const limited = known ? undefined : failures.begin(from, '', now);
      if (limited !== undefined) {
        res.set('Retry-After', String(limited.retryAfterSeconds));
        refuse(429, 'Too many wrong tokens came from this address; wait a minute.');
      } else if (right) {
        if (!known) failures.withdraw(from, '', now);
        atWorkAt.set(from, now);
        next();
      } else {
        res.set('WWW-Authenticate', CHALLENGES);
        refuse(401, 'This is not the admin token.');
      }
    }
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
