import { hash, randomBytes } from 'node:crypto';
import { parseCookie } from 'undici';
import { createLruMap } from '../../lib/bounded-maps.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';

/**
 * The callers' sessions with the upstream. The upstream starts a session whenever a request comes without a session
 * cookie. Portico therefore keeps these cookies: one session per credential and address of the upstream, so that a
 * caller has one session there, as it would without Portico. Cookies are secrets: they are sent only to the address
 * that set them, and only with the credential for which it set them.
 */
export interface Sessions {
  /**
   * Returns the session for one exchange. Without a credential, session cookies are removed from the response but not
   * kept, because anonymous callers cannot be told apart and must not share a session.
   */
  of(authorization: string | undefined): ExchangeSession;
  /**
   * Returns the session for an exchange that tests the credential. No cookie is sent, because the upstream might accept
   * a session whose credential is no longer valid. The response can begin a session but never replaces one.
   */
  ofProbe(authorization: string): ExchangeSession;
  /** Forgets the sessions that belong to a credential. */
  drop(authorization: string): void;
}

/** The caller's session as one exchange uses it. */
export interface ExchangeSession {
  /**
   * Returns the headers for a request to the given address, as alternating names and values: with the session cookies
   * that apply to the path, and without any that the client sent. Called for each attempt.
   */
  attach(headers: readonly string[], origin: string, path: string): readonly string[];
  /** Keeps the session cookies in a response to the latest attempt, and returns the headers without them. */
  receive(headers: HeaderPairs): HeaderPairs;
  /** Returns whether a text contains the value of a session cookie that this exchange sent or received. */
  occursIn(text: Buffer | string): boolean;
}

/** The maximum number of credentials, per address of the upstream, whose sessions are kept. */
const MAX_SESSIONS = 10_000;

/** How long an unused session is kept, in milliseconds. Servers end unused sessions after about the same time. */
const IDLE_MS = 30 * 60_000;

/** The maximum number of cookies per session. A server sends one or two. */
const MAX_COOKIES = 8;

/** The values that are kept. Any other value would be too long, or would make every later request unsendable. */
const SENDABLE = /^[\x20-\x7e]{0,4096}$/;

/** Values shorter than this are not searched for, because they could occur in a page by chance. */
const MIN_SEARCHED = 8;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** When the cookie expires, in epoch milliseconds. Infinity for a cookie without an expiry. */
  readonly expiresAt: number;
}

interface Session {
  readonly cookies: readonly Cookie[];
  readonly usedAt: number;
}

/**
 * Creates the memory for sessions. `names` are the names of the session cookies. If it is empty, cookies are neither
 * kept nor removed.
 */
export function createSessions(names: readonly string[], clock: Clock): Sessions {
  const wanted = new Set(names);
  const sessions = createLruMap<string, Session>(MAX_SESSIONS);
  /** The addresses to which requests have been sent. They come from the configuration, so there are only a few. */
  const origins = new Set<string>();
  // A credential is never a key itself.
  const secret = randomBytes(32).toString('hex');
  const ownerOf = (authorization: string) => hash('sha256', `${secret}${authorization}`, 'base64url');

  const live = (key: string): readonly Cookie[] => {
    const session = sessions.get(key);
    const now = clock();
    if (session === undefined) return [];
    const cookies = now - session.usedAt > IDLE_MS ? [] : session.cookies.filter(({ expiresAt }) => expiresAt > now);
    if (cookies.length === 0) sessions.delete(key);
    else sessions.set(key, { cookies, usedAt: now });
    return cookies;
  };
  /** Forgets expired sessions, which are the least recently used ones. */
  const tidy = () => {
    const oldest = clock() - IDLE_MS;
    for (const key of sessions.rkeys()) {
      if ((sessions.peek(key)?.usedAt ?? 0) >= oldest) return;
      sessions.delete(key);
    }
  };
  const keep = (key: string, cookie: Cookie) => {
    const others = live(key).filter(({ name, path }) => name !== cookie.name || path !== cookie.path);
    const isLive = cookie.expiresAt > clock() && SENDABLE.test(cookie.value);
    const cookies = isLive ? [...others, cookie].slice(-MAX_COOKIES) : others;
    if (cookies.length === 0) sessions.delete(key);
    else sessions.set(key, { cookies, usedAt: clock() });
    tidy();
  };

  const exchange = (authorization: string | undefined, isProbe: boolean): ExchangeSession => {
    let owner: string | undefined;
    let sentTo = '';
    /** Returns the key of the caller's session at the address of the latest attempt, if the caller can have one. */
    const sessionKey = () =>
      authorization === undefined ? undefined : keyOf((owner ??= ownerOf(authorization)), sentTo);
    let requestPath = '/';
    let secrets: readonly string[] = [];
    return {
      attach(headers, origin, path) {
        origins.add(origin);
        sentTo = origin;
        requestPath = path;
        // Many servers never set session cookies. Hashing the credential would then be most of the work.
        const key = isProbe || sessions.size === 0 ? undefined : sessionKey();
        const cookies = key === undefined ? [] : live(key).filter((cookie) => pathMatches(path, cookie.path));
        secrets = cookies.map(({ value }) => value);
        return withCookies(headers, wanted, cookies);
      },
      receive(headers) {
        const given = headers.filter(([name, value]) => isSetCookie(name) && isSessionCookie(value, wanted));
        if (given.length === 0) return headers;
        const cookies = given.map(([, text]) => readCookie(text, requestPath, clock()));
        secrets = [...secrets, ...cookies.map(({ value }) => value)];
        const key = sessionKey();
        const isKept = key !== undefined && !(isProbe && live(key).length > 0);
        if (isKept) for (const cookie of cookies) keep(key, cookie);
        return headers.filter((header) => !given.includes(header));
      },
      occursIn: (text) => secrets.some((value) => value.length >= MIN_SEARCHED && text.includes(value)),
    };
  };

  return {
    of: (authorization) => exchange(authorization, false),
    ofProbe: (authorization) => exchange(authorization, true),
    drop(authorization) {
      if (sessions.size === 0) return;
      const owner = ownerOf(authorization);
      for (const origin of origins) sessions.delete(keyOf(owner, origin));
    },
  };
}

const keyOf = (owner: string, origin: string) => `${owner} ${origin}`;

const cookieName = (pair: string) => pair.slice(0, Math.max(0, pair.indexOf('='))).trim();

/** Returns whether a `Set-Cookie` value sets one of the named cookies. */
export function isSessionCookie(value: string, names: ReadonlySet<string>): boolean {
  return names.has(cookieName(value));
}

const isCookie = (name: string) => name.length === 6 && name.toLowerCase() === 'cookie';

const isSetCookie = (name: string) => name.length === 10 && name.toLowerCase() === 'set-cookie';

/**
 * Reads a `Set-Cookie` value. `Domain` and `Secure` are ignored, because the cookie is sent only to the address that
 * set it, over the same kind of connection.
 */
function readCookie(text: string, requestPath: string, now: number): Cookie {
  const [pair = ''] = text.split(';', 1);
  const { path, maxAge, expires } = parseCookie(text) ?? {};
  const end = expires === undefined ? Infinity : Number(expires);
  return {
    name: cookieName(pair),
    value: pair.slice(pair.indexOf('=') + 1).trim(),
    path: path ?? defaultPath(requestPath),
    // Max-Age takes precedence over Expires (RFC 6265 §5.3).
    expiresAt: maxAge === undefined ? end : maxAge <= 0 ? 0 : now + maxAge * 1000,
  };
}

/** Returns the path of a cookie that has no `Path` attribute (RFC 6265 §5.1.4). */
function defaultPath(requestPath: string): string {
  const path = pathOf(requestPath);
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

const pathOf = (target: string) => target.split(/[?#]/, 1)[0] ?? '';

/** Returns whether a cookie's path covers a request's path (RFC 6265 §5.1.4). */
function pathMatches(target: string, cookiePath: string): boolean {
  const path = pathOf(target);
  if (!path.startsWith(cookiePath)) return false;
  return cookiePath.endsWith('/') || path.length === cookiePath.length || path.charAt(cookiePath.length) === '/';
}

/** Returns the headers with the given cookies in place of the session cookies that the client sent. */
function withCookies(
  headers: readonly string[],
  wanted: ReadonlySet<string>,
  cookies: readonly Cookie[],
): readonly string[] {
  if (cookies.length === 0 && !headers.some((name, at) => at % 2 === 0 && isCookie(name))) return headers;
  const others: string[] = [];
  const pairs: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    if (!isCookie(name)) others.push(name, value);
    else pairs.push(...value.split(';').filter((pair) => pair.trim() !== '' && !wanted.has(cookieName(pair))));
  }
  // Cookies with longer paths come first (RFC 6265 §5.4).
  const own = cookies.toSorted((one, other) => other.path.length - one.path.length);
  pairs.push(...own.map(({ name, value }) => `${name}=${value}`));
  return pairs.length === 0 ? others : [...others, 'Cookie', pairs.map((pair) => pair.trim()).join('; ')];
}
