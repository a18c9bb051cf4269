import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { createOwnWindows } from '../sharing/alone/own-windows.ts';
import type { Operator } from '../identity/operators-options.ts';
import { operatorName } from '../model/operator-name.ts';
import { isSafe } from '../model/safe-methods.ts';
import { noteAction } from './admin-actions.ts';
import { createOperatorSignIn } from './operator-sign-in.ts';
import { parseBasicCredentials } from '../../lib/basic-credentials.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { networkOf } from '../../lib/network-address.ts';

/** Options for access control on the admin side. Health checks and metrics require no credential. */
export interface AdminGuardOptions {
  /** True if the admin side listens only on a loopback address. */
  readonly loopback: boolean;
  readonly token: string | undefined;
  /** The operators who sign in with a name and a password of their own. Defaults to none. */
  readonly operators?: readonly Operator[];
  /** The clock for the limit on failed attempts. Defaults to the system clock. */
  readonly clock?: Clock;
}

/**
 * The limit on wrong tokens from one address. Once the limit is reached, clients at that address must wait even if they
 * send the correct token, unless it was recently sent from that address.
 */
const ATTEMPTS = { limit: 20, windowMs: 60_000, networks: 10_000 };

/**
 * How long an address is remembered after the correct token was sent from it, and an operator after the correct password.
 * During this time, wrong tokens from clients that share the address, for example behind a proxy, cannot lock out whoever
 * has the token, and an operator's requests lead to no further sign-in in the audit trail.
 */
const RECENT_USE = { seconds: 3_600, max: 1_000 };

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Returns whether a browser states that another site caused the request. The browser adds a `Basic` credential that it
 * remembers to such a request too. The value `none` means that the user caused the request, for example by a bookmark.
 */
function isFromAnotherSite({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/**
 * There are two challenges, because some browsers ask for a password only if `Basic` is offered. People enter the name and
 * the password of an operator, or any name with the token as the password.
 */
const CHALLENGES = ['Basic realm="Portico admin", charset="UTF-8"', 'Bearer realm="Portico admin"'];

/**
 * Controls operators' access (docs/rules.md §12). A credential, which is the token or an operator's name and password, is
 * required if a token or operators are configured. If the admin side listens on an address other than loopback, one of
 * them must be configured. If no credential is required, the Host header must contain a loopback name, so
 * that a page on another site cannot gain access through the operator's browser (DNS rebinding, CSRF).
 */
export function createAdminGuard({
  loopback,
  token,
  operators = [],
  clock = systemClock,
}: AdminGuardOptions): RequestHandler {
  const signIn = createOperatorSignIn(operators, clock, (req) => {
    const { res } = req;
    if (res !== undefined) noteAction(res, { action: 'sign in', reason: WRONG_CREDENTIAL });
    return bodyOf(req, res, 401, WRONG_CREDENTIAL);
  });
  const isOpen = token === undefined && signIn === undefined;
  const failures = createOwnWindows(clock, ATTEMPTS.networks);
  const lastUse = createLruMap<string, number>(RECENT_USE.max);
  const wasUsedRecently = (from: string, now: number) =>
    now - (lastUse.get(from) ?? -Infinity) < RECENT_USE.seconds * 1000;
  return (req, res, next) => {
    const { host = '', origin } = req.headers;
    const attempt = attemptOf(req);
    const refuse = (status: number, text: string) => refuseAdmin(req, res, status, text);
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
      refuse(403, 'Requests from another site are refused.');
    } else if (!isSafe(req.method) && isFromAnotherSite(req)) {
      refuse(403, 'Changes requested by another site are refused.');
    } else if (isOpen && !loopback) {
      refuse(403, 'Set PORTICO_ADMIN_TOKEN: the admin side is not on loopback.');
    } else if (isOpen && !LOOPBACK_HOST.test(host)) {
      refuse(403, 'Use a loopback name for the admin side, for example 127.0.0.1.');
    } else if (isOpen) {
      noteAction(res, { actor: 'loopback without token', by: nameIn(req) });
      next();
    } else if (attempt.token === undefined) {
      res.set('WWW-Authenticate', CHALLENGES);
      refuse(401, signIn === undefined ? 'The admin token is required.' : 'A name and a password are required.');
    } else {
      const now = clock();
      const { from } = attempt;
      const isCorrect = token !== undefined && sameText(attempt.token, token);
      const known = isCorrect && wasUsedRecently(from, now);
      const window = { name: 'network', texts: [from], limit: ATTEMPTS.limit };
      const failure = known ? undefined : failures.add([window], ATTEMPTS.windowMs);
      if (failure !== undefined && failure.waitMs > 0) {
        noteAction(res, { action: 'sign in' });
        res.set('Retry-After', String(Math.ceil(failure.waitMs / 1000)));
        refuse(429, 'Too many wrong tokens from this address; wait a minute.');
      } else if (isCorrect) {
        failure?.withdraw();
        lastUse.set(from, now);
        const name = nameIn(req);
        // An operator who has entered the token as the name as well must not find it in the audit trail.
        noteAction(res, { actor: 'token', by: name === token ? undefined : name, signedIn: !known });
        next();
      } else if (signIn !== undefined && attempt.isBasic) {
        res.set('WWW-Authenticate', CHALLENGES);
        void signIn(req, res, (error?: unknown) => {
          res.removeHeader('WWW-Authenticate');
          if (error === undefined) {
            failure?.withdraw();
            const name = nameIn(req);
            const use = `${from} ${name}`;
            const isFirst = !wasUsedRecently(use, now);
            lastUse.set(use, now);
            noteAction(res, { actor: 'operator', by: name, signedIn: isFirst });
          }
          next(error);
        });
      } else {
        noteAction(res, { action: 'sign in' });
        res.set('WWW-Authenticate', CHALLENGES);
        refuse(401, signIn === undefined ? 'The admin token is incorrect.' : WRONG_CREDENTIAL);
      }
    }
  };
}

/**
 * Makes a browser forget the admin token. A browser remembers a name and a password until it is closed. It replaces
 * them only after it has been challenged and a request with a different name has then succeeded. To sign out, the
 * console sends a request with the name `signed-out`. A request that contains the token is challenged, whereas one with
 * this name succeeds but grants no access.
 */
export function createSignOut({
  token,
  operators = [],
}: Pick<AdminGuardOptions, 'token' | 'operators'>): RequestHandler {
  return (req, res, next) => {
    const site = req.headers['sec-fetch-site'];
    if (token === undefined && operators.length === 0) next();
    else if (site !== undefined && site !== 'same-origin') refuseAdmin(req, res, 403, 'Only the console can sign out.');
    else if (parseBasicCredentials(req.headers.authorization ?? '')?.name === SIGNED_OUT) res.status(204).end();
    else {
      res.set('WWW-Authenticate', CHALLENGES);
      refuseAdmin(req, res, 401, 'You are signed out.');
    }
  };
}

const SIGNED_OUT = 'signed-out';

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined;
}

/**
 * Compares two strings by their digests, so that the time taken reveals neither the strings' lengths nor where they
 * first differ.
 */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token in an operator's request, and the client's address. */
interface AdminAttempt {
  /** The token. Undefined if the request has no credential. Empty if the credential is invalid. */
  readonly token: string | undefined;
  /** True if the request has a name and a password. */
  readonly isBasic: boolean;
  /** The client's IPv4 address or IPv6 network. */
  readonly from: string;
}

interface Peer {
  readonly remoteAddress?: string | undefined;
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * Returns the token in a request and the client's address. Programs send the token as `Bearer TOKEN`. Browsers send it
 * as the password of a `Basic` credential, with any name.
 */
function attemptOf(req: Pick<IncomingMessage, 'headers'> & { socket?: Peer }): AdminAttempt {
  const { authorization } = req.headers;
  return {
    token: authorization === undefined ? undefined : tokenIn(authorization),
    isBasic: parseBasicCredentials(authorization ?? '') !== undefined,
    from: networkOf(req.socket?.remoteAddress ?? ''),
  };
}

function tokenIn(authorization: string): string {
  return BEARER.exec(authorization)?.[1] ?? parseBasicCredentials(authorization)?.password ?? '';
}

/** Returns the name that an operator entered together with the token. */
function nameIn({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return operatorName(parseBasicCredentials(headers.authorization ?? '')?.name);
}

// This text appears only if operators must sign in. Otherwise, the browser does not ask for a password.
const SIGN_IN =
  '<p>The console asks for a name and a password: those of an operator, or any name and the admin token as the password. ' +
  'Reload this page to enter them.</p>';

const WRONG_CREDENTIAL = 'The name, the password or the admin token is incorrect.';

/** Refuses an operator's request. Browsers receive a small page. Other clients receive JSON. */
function refuseAdmin(req: Request, res: Response, status: number, text: string): void {
  noteAction(res, { reason: text });
  const body = bodyOf(req, res, status, text);
  res.status(status);
  if (typeof body === 'string') res.send(body);
  else res.json(body);
}

/** Returns the page for browsers, for which it sets the headers, or the JSON for other clients. */
function bodyOf(req: Request, res: Response | undefined, status: number, text: string): string | { error: string } {
  if (!(req.headers.accept ?? '').includes('text/html')) return { error: text };
  // The text needs no escaping, because it is a fixed sentence that contains no part of the request.
  res?.set('Content-Security-Policy', CLOSED_POLICY).type('html');
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Portico: access denied</title></head>` +
    `<body><main><h1>Access denied</h1><p>${text}</p>` +
    `${status === 401 ? SIGN_IN : ''}</main></body></html>`
  );
}

/**
 * The `Content-Security-Policy` for responses that are not pages. It prevents these responses from loading anything and
 * from being shown in a frame.
 */
export const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
