import type { IncomingHttpHeaders } from 'node:http';
import { timingSafeEqual } from 'node:crypto';
import { refuse } from '../answers/legacy-refusal.ts';
import { badCredential } from '../answers/legacy-errors.ts';
import type { Sql } from '../store/sql.ts';
import type { UserRow } from '../store/rows.ts';
import type { Caller } from './caller.ts';
import { ANONYMOUS_CALLER, loadCaller } from './load-caller.ts';
import { passwordHash } from './password-hash.ts';

function userOfBasic(sql: Sql, encoded: string): UserRow | undefined {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const user = sql.get<UserRow>('SELECT * FROM users WHERE username = ?', text.slice(0, colon));
  const given = passwordHash(user?.id ?? 0, text.slice(colon + 1));
  const matches = timingSafeEqual(Buffer.from(given), Buffer.from(user?.password_hash ?? passwordHash(0, '\0')));
  return matches ? user : undefined;
}

function userOfToken(sql: Sql, token: string): UserRow | undefined {
  return sql.get<UserRow>('SELECT u.* FROM users u JOIN tokens t ON t.user_id = u.id WHERE t.token = ?', token);
}

/** Finds who sent the request by Basic, Bearer or `x-auth-token`; a wrong credential is refused with 401 and a challenge. */
export function authenticate(sql: Sql, headers: IncomingHttpHeaders): Caller {
  const { authorization } = headers;
  const token = headers['x-auth-token'];
  if (authorization === undefined && token === undefined) return ANONYMOUS_CALLER;
  const [scheme = '', value = ''] = (authorization ?? `Bearer ${String(token)}`).trim().split(/\s+/);
  const user =
    scheme.toLowerCase() === 'basic'
      ? userOfBasic(sql, value)
      : scheme.toLowerCase() === 'bearer'
        ? userOfToken(sql, value)
        : undefined;
  if (user === undefined || user.suspended === 1 || user.deactivated === 1) refuse(badCredential());
  return loadCaller(sql, user);
}
