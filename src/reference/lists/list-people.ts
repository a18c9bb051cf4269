import type { LegacyRequest } from '../http/route.ts';
import { toFormattedDate } from '../render/text.ts';
import { toListedTopic } from '../render/to-node.ts';
import { toUser } from '../render/to-user.ts';
import type { SqlCondition } from '../render/visible-nodes.ts';
import type { Sql, TopicRow, UserRow } from '../store/sql.ts';
import { readPageRequest, toPagedList } from './paging.ts';
import { project, readProjection } from './projection.ts';

const USER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'u.created_at DESC, u.id'],
  ['oldest', 'u.created_at, u.id'],
]);

/**
 * Returns one page of users in the envelope, sorted by reputation unless the request names another known sort order.
 */
export function listUsers(sql: Sql, request: LegacyRequest, condition: SqlCondition): Record<string, unknown> {
  const requestedSort = request.query.get('sort') ?? '';
  const sort = USER_SORTS.has(requestedSort) ? requestedSort : 'reputation';
  const page = readPageRequest(request.query, { firstPage: 1, size: 35 });
  const { text, values } = condition;
  const total =
    sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM users u WHERE ${text}`, ...values)?.total ?? 0;
  const rows = sql.all<UserRow>(
    `SELECT u.* FROM users u WHERE ${text} ORDER BY ${USER_SORTS.get(sort) ?? 'u.id'} LIMIT ? OFFSET ?`,
    ...values,
    page.size,
    page.offset,
  );
  const projection = readProjection(request.query);
  return toPagedList({ request: page, sort, total, items: rows.map((row) => project(toUser(sql, row), projection)) });
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

const ORDERS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'f.created_at DESC, f.id'],
  ['oldest', 'f.created_at, f.id'],
]);

function flag(query: URLSearchParams, name: string, fallback: boolean): boolean {
  const value = query.get(name)?.toLowerCase();
  return value === 'true' || (value !== 'false' && fallback);
}

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
export function listFollowers(sql: Sql, request: LegacyRequest, followed: Followed): Record<string, unknown> {
  const { query } = request;
  const details = flag(query, 'details', false);
  const onlyActive = flag(query, 'active', true);
  const where = `f.kind = ? AND f.target_id = ? ${onlyActive ? 'AND f.active = 1' : ''}`;
  const requestedSort = query.get('sort') ?? '';
  const page = readPageRequest(query, { firstPage: 0, size: 35 });
  const count = `SELECT COUNT(*) AS total FROM follows f WHERE ${where}`;
  const total = sql.get<{ total: number }>(count, followed.kind, followed.id)?.total ?? 0;
  const rows = sql.all<FollowRow>(
    `SELECT u.*, f.id AS follow_id, f.active AS follow_active, f.created_at AS followed_at
     FROM follows f JOIN users u ON u.id = f.follower_id
     WHERE ${where} ORDER BY ${ORDERS.get(requestedSort) ?? 'f.id'} LIMIT ? OFFSET ?`,
    followed.kind,
    followed.id,
    page.size,
    page.offset,
  );
  const projection = readProjection(query);
  const toItem = (row: FollowRow) => (details ? toFollowRelation(sql, row, followed) : toUser(sql, row));
  const items = rows.map((row) => project(toItem(row), projection));
  return toPagedList({ request: page, sort: ORDERS.has(requestedSort) ? requestedSort : '', total, items });
}

/** Returns one page of topics in the envelope, most frequently used first. */
export function listTopics(sql: Sql, request: LegacyRequest, condition: SqlCondition): Record<string, unknown> {
  const page = readPageRequest(request.query, { firstPage: 1, size: 35 });
  const { text, values } = condition;
  const total =
    sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM topics t WHERE ${text}`, ...values)?.total ?? 0;
  const rows = sql.all<TopicRow>(
    `SELECT t.* FROM topics t WHERE ${text} ORDER BY t.used_count DESC, t.id LIMIT ? OFFSET ?`,
    ...values,
    page.size,
    page.offset,
  );
  const projection = readProjection(request.query);
  const items = rows.map((row) => project(toListedTopic(sql, row), projection));
  return toPagedList({ request: page, sort: '', total, items });
}
