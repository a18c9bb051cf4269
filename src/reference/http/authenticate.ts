import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseBasicCredentials } from '../../lib/basic-credentials.ts';
import { passwordHash } from '../store/password-hash.ts';
import type { Sql, UserRow } from '../store/sql.ts';
import { type Caller, type Permission, PERMISSIONS, type RoleName, ROLES } from './caller.ts';
import { badCredential, refuse } from './errors.ts';

function userOfBasic(sql: Sql, authorization: string): UserRow | undefined {
  const credentials = parseBasicCredentials(authorization);
  if (credentials === undefined) return undefined;
  const user = sql.get<UserRow>('SELECT * FROM users WHERE username = ?', credentials.name);
  const given = passwordHash(user?.id ?? 0, credentials.password);
  const matches = timingSafeEqual(Buffer.from(given), Buffer.from(user?.password_hash ?? passwordHash(0, '\0')));
  return matches ? user : undefined;
}

function userOfToken(sql: Sql, token: string): UserRow | undefined {
  return sql.get<UserRow>('SELECT u.* FROM users u JOIN tokens t ON t.user_id = u.id WHERE t.token = ?', token);
}

/** Identifies the caller by Basic, Bearer or `x-auth-token`; refuses an invalid credential with 401 and a challenge. */
export function authenticate(sql: Sql, headers: IncomingHttpHeaders): Caller {
  const { authorization } = headers;
  const token = headers['x-auth-token'];
  if (authorization === undefined && token === undefined) return ANONYMOUS_CALLER;
  const [scheme = '', value = ''] = (authorization ?? `Bearer ${String(token)}`).trim().split(/\s+/);
  const user =
    scheme.toLowerCase() === 'basic'
      ? userOfBasic(sql, authorization ?? '')
      : scheme.toLowerCase() === 'bearer'
        ? userOfToken(sql, value)
        : undefined;
  if (user === undefined || user.suspended === 1 || user.deactivated === 1) refuse(badCredential());
  return loadCaller(sql, user);
}

/** The caller without a credential, who has the anonymous role only. */
const ANONYMOUS_CALLER: Caller = {
  id: 0,
  username: '',
  anonymous: true,
  admin: false,
  superuser: false,
  moderator: false,
  permissions: new Set(ROLES.anonymous),
  groups: [],
};

/** Loads a user's roles and groups. The super-user flag grants all permissions, but no group membership. */
function loadCaller(sql: Sql, user: UserRow): Caller {
  const roles = sql.all<{ role: RoleName }>('SELECT role FROM user_roles WHERE user_id = ?', user.id);
  const groups = sql.all<{ name: string }>(
    'SELECT g.name FROM groups g JOIN group_members m ON m.group_id = g.id WHERE m.user_id = ? ORDER BY g.id',
    user.id,
  );
  const granted = user.superuser === 1 ? PERMISSIONS : roles.flatMap(({ role }): readonly Permission[] => ROLES[role]);
  return {
    id: user.id,
    username: user.username,
    anonymous: false,
    admin: user.admin === 1,
    superuser: user.superuser === 1,
    moderator: user.moderator === 1,
    permissions: new Set(granted),
    groups: groups.map(({ name }) => name),
  };
}
