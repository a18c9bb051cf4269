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
