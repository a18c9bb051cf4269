import { createHash } from 'node:crypto';
import type { Sql, UserRow } from '../store/sql.ts';
import { toFormattedDate } from './text.ts';

const COUNTS = `SELECT
  (SELECT COUNT(*) FROM nodes WHERE author_id = ?1) AS posts,
  (SELECT COUNT(*) FROM follows WHERE kind = 'user' AND target_id = ?1 AND active = 1) AS followers,
  (SELECT COUNT(*) FROM follows WHERE follower_id = ?1 AND kind <> 'user' AND active = 1) AS followed,
  (SELECT COUNT(*) FROM follows WHERE follower_id = ?1 AND kind = 'user' AND active = 1) AS followed_users`;

interface GroupRow {
  readonly id: number;
  readonly name: string;
  readonly created_at: number;
  readonly modified_at: number;
}

function toGroupSummary({ id, name, created_at: at, modified_at: modificationDate }: GroupRow) {
  return { id: String(id), creationDate: at, creationDateFormatted: toFormattedDate(at), modificationDate, name };
}

/** Renders a user as shown in user lists, with group summaries but without the email address. */
export function toUser(sql: Sql, user: UserRow): Record<string, unknown> {
  const counts = sql.get<Record<'posts' | 'followers' | 'followed' | 'followed_users', number>>(COUNTS, user.id);
  const groups = sql.all<GroupRow>(
    'SELECT g.* FROM groups g JOIN group_members m ON m.group_id = g.id WHERE m.user_id = ? ORDER BY g.id',
    user.id,
  );
  return {
    id: user.id,
    type: 'user',
    creationDate: user.created_at,
    creationDateFormatted: toFormattedDate(user.created_at),
    modificationDate: user.modified_at,
    username: user.username,
    ...(user.realname === null ? {} : { realname: user.realname }),
    slug: user.username.replaceAll('.', '-'),
    gold: user.gold,
    silver: user.silver,
    bronze: user.bronze,
    reputation: user.reputation,
    moderator: user.moderator === 1,
    superuser: user.superuser === 1,
    avatar: avatarUrl(user.email),
    postCount: counts?.posts ?? 0,
    followerCount: counts?.followers ?? 0,
    followCount: counts?.followed ?? 0,
    userFollowCount: counts?.followed_users ?? 0,
    active: user.active === 1,
    suspended: user.suspended === 1,
    deactivated: user.deactivated === 1,
    groups: groups.map(toGroupSummary),
  };
}

/**
 * Returns the MD5 hash of the email address, which the legacy server returns as `emailHash` and uses in avatar URLs.
 */
export function emailHash(email: string): string {
  return createHash('md5').update(email.trim().toLowerCase()).digest('hex');
}

/** Returns the URL of a user's avatar. As on real servers, it is an absolute http URL on the legacy host. */
export function avatarUrl(email: string): string {
  return `http://community.example.org/avatars/${emailHash(email)}.png`;
}
