import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseBasicCredentials } from '../../lib/basic-credentials.ts';
import type { Sql, UserRow } from '../store/sql.ts';
import { badCredential, missingCredential, missingPermission, refuse } from './legacy-response.ts';

/** The caller of a request. `id` is 0 for an anonymous caller. */
export interface Caller {
  readonly id: number;
  readonly username: string;
  readonly anonymous: boolean;
  readonly admin: boolean;
  readonly superuser: boolean;
  readonly moderator: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly groups: readonly string[];
}

/** The permissions that operations require. The names are those in the legacy role editor. */
const PERMISSIONS = [
  'View the questions list',
  'View the question page',
  'View answers in the question page',
  'View users list',
  "View user's profile",
  'Mark as favorite',
  'Convert own posts to community wiki',
  'Mark as community wiki',
  'View list idea',
  'View list kbentry',
  'View analytics',
  'Edit users and groups',
  'Use Private Comments',
  'Send private comments to the original poster',
  'Send private comments to moderators',
  'Send private comments to own groups',
  'Add attachments to issues',
] as const;

/** The name of a permission. */
export type Permission = (typeof PERMISSIONS)[number];

const ANONYMOUS: readonly Permission[] = [
  'View the questions list',
  'View the question page',
  'View answers in the question page',
  'View users list',
  "View user's profile",
];

/**
 * The permissions of each role in the legacy role editor. The `standard` role includes the permissions of `anonymous`.
 */
const ROLES = {
  anonymous: ANONYMOUS,
  standard: [...ANONYMOUS, 'Mark as favorite', 'Convert own posts to community wiki'],
  custom: ['View list idea', 'View list kbentry'],
  moderation: ['Mark as community wiki'],
  'site administration': ['View analytics', 'Edit users and groups'],
  'private comments': [
    'Use Private Comments',
    'Send private comments to the original poster',
    'Send private comments to moderators',
    'Send private comments to own groups',
  ],
  'private comments to moderators': ['Use Private Comments', 'Send private comments to moderators'],
  attachments: ['Add attachments to issues'],
} as const satisfies Record<string, readonly Permission[]>;

/** The name of a role. */
export type RoleName = keyof typeof ROLES;

/** Refuses an anonymous caller with status 401 and a challenge. */
export function requireCredential(caller: Caller): void {
  if (caller.anonymous) refuse(missingCredential());
}

/**
 * Refuses a caller who lacks any of the permissions. As on the legacy server, the response has status 401 and the
 * message for missing permissions.
 */
export function requirePermissions(caller: Caller, ...permissions: readonly Permission[]): void {
  if (!permissions.every((permission) => caller.permissions.has(permission))) refuse(missingPermission());
}

/** Refuses a caller who is neither an administrator nor a super user. */
export function requireAdministrator(caller: Caller): void {
  requireCredential(caller);
  if (!caller.admin && !caller.superuser) refuse(missingPermission());
}

/** Refuses a caller who is not a member of the group. */
export function requireGroup(caller: Caller, group: string): void {
  if (!caller.groups.includes(group)) refuse(missingPermission());
}

function userOfBasic(sql: Sql, authorization: string, ignoreCase: boolean): UserRow | undefined {
  const credentials = parseBasicCredentials(authorization);
  if (credentials === undefined) return undefined;
  const user = ignoreCase
    ? sql.get<UserRow>('SELECT * FROM users WHERE username = ? COLLATE NOCASE', credentials.name.trim())
    : sql.get<UserRow>('SELECT * FROM users WHERE username = ?', credentials.name);
  const hash = passwordHash(user?.id ?? 0, credentials.password);
  const matches = timingSafeEqual(Buffer.from(hash), Buffer.from(user?.password_hash ?? passwordHash(0, '\0')));
  return matches ? user : undefined;
}

function userOfToken(sql: Sql, token: string): UserRow | undefined {
  return sql.get<UserRow>('SELECT u.* FROM users u JOIN tokens t ON t.user_id = u.id WHERE t.token = ?', token);
}

/**
 * Identifies the caller by Basic, Bearer or `x-auth-token`. Refuses an invalid credential with status 401 and a
 * challenge. `ignoreCase` is true if user names are compared without case and surrounding white space.
 */
export function authenticate(sql: Sql, headers: IncomingHttpHeaders, ignoreCase: boolean): Caller {
  const { authorization } = headers;
  const token = headers['x-auth-token'];
  if (authorization === undefined && token === undefined) return ANONYMOUS_CALLER;
  const [scheme = '', value = ''] = (authorization ?? `Bearer ${String(token)}`).trim().split(/\s+/);
  const user =
    scheme.toLowerCase() === 'basic'
      ? userOfBasic(sql, authorization ?? '', ignoreCase)
      : scheme.toLowerCase() === 'bearer'
        ? userOfToken(sql, value)
        : undefined;
  if (user === undefined || user.suspended === 1 || user.deactivated === 1) refuse(badCredential());
  return loadCaller(sql, user);
}

/** A caller without a credential, who has only the anonymous role. */
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

/**
 * Loads a user's roles and groups. The super-user flag grants all permissions but does not add the user to any group.
 */
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

/**
 * Returns the hash of a demo password, salted with the user's id. A fast hash is sufficient because demo passwords are
 * public.
 */
export function passwordHash(userId: number, password: string): string {
  return createHash('sha256').update(`${userId}:${password}`).digest('hex');
}
