import type { Sql } from '../store/sql.ts';
import type { UserRow } from '../store/rows.ts';
import type { Caller } from './caller.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';
import { ROLES, type RoleName } from './roles.ts';

/** The caller without a credential: nobody, holding the anonymous role. */
export const ANONYMOUS_CALLER: Caller = {
  id: 0,
  username: '',
  anonymous: true,
  admin: false,
  superuser: false,
  moderator: false,
  permissions: new Set(ROLES.anonymous),
  groups: [],
};

/** Loads a user's roles and groups; the super-user flag grants every permission, but no group membership. */
export function loadCaller(sql: Sql, user: UserRow): Caller {
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
