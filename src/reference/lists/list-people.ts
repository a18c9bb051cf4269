import type { LegacyRequest } from '../http/route.ts';
import { toListedTopic } from '../render/to-node.ts';
import { toUser } from '../render/to-user.ts';
import type { SqlCondition } from '../render/visible-nodes.ts';
import type { Sql, TopicRow, UserRow } from '../store/sql.ts';
import { listPage } from './paging.ts';
import { toFormattedDate } from '../render/text.ts';

const PAGES = { firstPage: 1, size: 35 } as const;

const USER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'u.created_at DESC, u.id'],
  ['oldest', 'u.created_at, u.id'],
]);

/** Returns one page of users, sorted by reputation unless the request names another known sort order. */
export function listUsers(sql: Sql, { query }: LegacyRequest, { text, values }: SqlCondition): Record<string, unknown> {
  const requestedSort = query.get('sort') ?? '';
  const sort = USER_SORTS.has(requestedSort) ? requestedSort : 'reputation';
  return listPage<UserRow>(sql, query, PAGES, {
    columns: 'u.*',
    from: `users u WHERE ${text}`,
    values,
    order: USER_SORTS.get(sort) ?? 'u.id',
    sort,
    toItem: (row) => toUser(sql, row),
  });
}

/** Returns one page of topics, most frequently used first. */
export function listTopics(
  sql: Sql,
  { query }: LegacyRequest,
  { text, values }: SqlCondition,
): Record<string, unknown> {
  return listPage<TopicRow>(sql, query, PAGES, {
    columns: 't.*',
    from: `topics t WHERE ${text}`,
    values,
    order: 't.used_count DESC, t.id',
    sort: '',
    toItem: (row) => toListedTopic(sql, row),
  });
}

interface FollowRow extends UserRow {
  readonly follow_id: number;
  readonly follow_active: number;
  readonly followed_at: number;
}

/** A followed node or topic. */
interface Followed {
  readonly kind: 'node' | 'topic';
  readonly id: number;
  /** The type shown in a follow relation, for example `question` or `topic`. */
  readonly type: string;
}

const FOLLOWER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'f.created_at DESC, f.id'],
  ['oldest', 'f.created_at, f.id'],
]);

/**
 * Renders a follow relation. The specification does not show the relation's fields, so the reference server defines its
 * own.
 */
function toFollowRelation(sql: Sql, row: FollowRow, followed: Followed): Record<string, unknown> {
  return {
    id: row.follow_id,
    type: 'followrelation',
    creationDate: row.followed_at,
    creationDateFormatted: toFormattedDate(row.followed_at),
    active: row.follow_active === 1,
    follower: toUser(sql, row),
    followed: { id: followed.id, type: followed.type },
  };
}

/**
 * Returns one page of followers as users, or as follow relations if `details=true`. The first page is page 0.
 * `active=false` also includes inactive followers.
 */
export function listFollowers(sql: Sql, { query }: LegacyRequest, followed: Followed): Record<string, unknown> {
  const details = query.get('details')?.toLowerCase() === 'true';
  const onlyActive = query.get('active')?.toLowerCase() !== 'false';
  const sort = query.get('sort') ?? '';
  return listPage<FollowRow>(
    sql,
    query,
    { firstPage: 0, size: 35 },
    {
      columns: 'u.*, f.id AS follow_id, f.active AS follow_active, f.created_at AS followed_at',
      from: `follows f JOIN users u ON u.id = f.follower_id
      WHERE f.kind = ? AND f.target_id = ? ${onlyActive ? 'AND f.active = 1' : ''}`,
      values: [followed.kind, followed.id],
      order: FOLLOWER_SORTS.get(sort) ?? 'f.id',
      sort: FOLLOWER_SORTS.has(sort) ? sort : '',
      toItem: (row) => (details ? toFollowRelation(sql, row, followed) : toUser(sql, row)),
    },
  );
}
