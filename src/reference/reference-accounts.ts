import type { RoleName } from './http/caller.ts';

/** A demo account on the reference server. Its password is the same as its name. */
export interface ReferenceAccount {
  readonly name: string;
  readonly password: string;
  readonly realname: string;
  readonly roles: readonly RoleName[];
  readonly groups: readonly string[];
  readonly flags: readonly ('admin' | 'superuser' | 'moderator')[];
}

/** The demo accounts of every seeded database, in order of user id (1 to 5). */
export const REFERENCE_ACCOUNTS: readonly ReferenceAccount[] = [
  {
    name: 'admin',
    password: 'admin',
    realname: 'Ada Administrator',
    roles: ['standard', 'site administration', 'custom', 'moderation', 'private comments', 'attachments'],
    groups: ['Super Users', 'Employees'],
    flags: ['admin', 'superuser'],
  },
  {
    name: 'moderator',
    password: 'moderator',
    realname: 'Morgan Moderator',
    roles: ['standard', 'custom', 'moderation', 'private comments', 'attachments'],
    groups: ['Moderators', 'Employees'],
    flags: ['moderator'],
  },
  {
    name: 'alice',
    password: 'alice',
    realname: 'Alice Archer',
    roles: ['standard', 'custom', 'private comments'],
    groups: ['Champions', 'Beta Testers'],
    flags: [],
  },
  {
    name: 'bob',
    password: 'bob',
    realname: 'Bob Baker',
    roles: ['standard', 'custom'],
    groups: ['Beta Testers', 'Newcomers'],
    flags: [],
  },
  { name: 'guest', password: 'guest', realname: 'Gil Guest', roles: ['anonymous'], groups: ['Newcomers'], flags: [] },
];
