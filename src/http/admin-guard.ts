import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { createFailureLimiter } from '../identity/limits.ts';
import { parseBasicCredentials } from '../lib/basic-credentials.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { networkOf } from '../lib/network-address.ts';
import { refuseAdmin } from './refuse-admin.ts';

/** Options that control access to the admin side, except for health and metrics. */
export interface AdminGuardOptions {
  /** True when the admin side listens on loopback only. */
  readonly loopback: boolean;
  readonly token: string | undefined;
  /** The clock for the limit of failed attempts. Defaults to the system clock. */
  readonly clock?: Clock;
}

/**
 * The limit of wrong tokens per address. Beyond it, the correct token must wait too, unless it was used there recently.
 */
const ATTEMPTS = { limit: 20, windowSeconds: 60, maxPairs: 10_000 };

/**
 * How long an operator's address is stored, so that other clients behind the same proxy cannot lock the operator out.
 */
const RECENT_USE = { seconds: 3_600, max: 1_000 };

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Two challenges, so that a browser that supports only `Basic` asks for a password. The password is the token; any name
 * works.
 */
const CHALLENGES = ['Basic realm="Portico admin", charset="UTF-8"', 'Bearer realm="Portico admin"'];

/**
 * Controls the access of operators (rules, 12). A token is required if one is set or if the admin side is not on
 * loopback. Without a token, the Host header must be a loopback name, so that a page of another site in the operator's
 * browser has no access (DNS rebinding, CSRF).
 */
export function createAdminGuard({ loopback, token, clock = systemClock }: AdminGuardOptions): RequestHandler {
  const failures = createFailureLimiter(ATTEMPTS);
  const lastUse = new LRUCache<string, number>({ max: RECENT_USE.max });
  const wasUsedRecently = (from: string, now: number) =>
    now - (lastUse.get(from) ?? -Infinity) < RECENT_USE.seconds * 1000;
  return (req, res, next) => {
    const { host = '', origin } = req.headers;
    const attempt = attemptOf(req);
    const refuse = (status: number, text: string) => refuseAdmin(req, res, status, text);
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
      refuse(403, 'Requests from another site are refused.');
    } else if (token === undefined && !loopback) {
      refuse(403, 'Set PORTICO_ADMIN_TOKEN: the admin side is not on loopback.');
    } else if (token === undefined && !LOOPBACK_HOST.test(host)) {
      refuse(403, 'Use a loopback name for the admin side, for example 127.0.0.1.');
    } else if (token === undefined) {
      next();
    } else if (attempt.token === undefined) {
      res.set('WWW-Authenticate', CHALLENGES);
      refuse(401, 'The admin token is required.');
    } else {
      const now = clock();
      const { from } = attempt;
      const isCorrect = sameText(attempt.token, token);
      const known = isCorrect && wasUsedRecently(from, now);
      const limited = known ? undefined : failures.begin(from, '', now);
      if (limited !== undefined) {
        res.set('Retry-After', String(limited.retryAfterSeconds));
        refuse(429, 'Too many wrong tokens from this address; wait a minute.');
      } else if (isCorrect) {
        if (!known) failures.withdraw(from, '', now);
        lastUse.set(from, now);
        next();
      } else {
        res.set('WWW-Authenticate', CHALLENGES);
        refuse(401, 'The admin token is incorrect.');
      }
    }
  };
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined;
}

/** Compares digests, so that the duration reveals neither the length of a text nor the position of a difference. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token and the address of an operator's request. */
interface AdminAttempt {
  /** Undefined if the request has no credential, or empty if the credential is malformed. */
  readonly token: string | undefined;
  /** The address of the peer, or its network for IPv6. */
  readonly from: string;
}

interface Peer {
  readonly remoteAddress?: string | undefined;
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * Reads the token of a request: `Bearer TOKEN`, or `Basic` with any name and the token as password, as browsers send
 * it.
 */
function attemptOf(req: Pick<IncomingMessage, 'headers'> & { socket?: Peer }): AdminAttempt {
  const { authorization } = req.headers;
  return {
    token: authorization === undefined ? undefined : tokenIn(authorization),
    from: networkOf(req.socket?.remoteAddress ?? ''),
  };
}

function tokenIn(authorization: string): string {
  return BEARER.exec(authorization)?.[1] ?? parseBasicCredentials(authorization)?.password ?? '';
}
