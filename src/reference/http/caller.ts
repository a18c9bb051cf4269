import { missingCredential, missingPermission, refuse } from './errors.ts';

/** The caller as the legacy server sees it; `id` 0 is the anonymous caller. */
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

/** The permission names of the legacy role editor that guard an operation (specification, Authentication). */
export const PERMISSIONS = [
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

/** One permission name. */
export type Permission = (typeof PERMISSIONS)[number];

const ANONYMOUS: readonly Permission[] = [
  'View the questions list',
  'View the question page',
  'View answers in the question page',
  'View users list',
  "View user's profile",
];

/** The permissions of each role in the legacy role editor; `standard` includes those of `anonymous`. */
export const ROLES = {
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

/** Refuses an anonymous caller with 401 and a challenge. */
export function demandCredential(caller: Caller): void {
  if (caller.anonymous) refuse(missingCredential());
}

/** Refuses a caller who lacks one of the permissions as the legacy server does: 401 with the permission message. */
export function demandPermissions(caller: Caller, ...permissions: readonly Permission[]): void {
  if (!permissions.every((permission) => caller.permissions.has(permission))) refuse(missingPermission());
}

/** Refuses a caller who is neither an administrator nor a super user. */
export function demandAdministrator(caller: Caller): void {
  demandCredential(caller);
  if (!caller.admin && !caller.superuser) refuse(missingPermission());
}

/** Refuses a caller who is not a member of the group. */
export function demandGroup(caller: Caller, group: string): void {
  if (!caller.groups.includes(group)) refuse(missingPermission());
}
