import type { LegacyRequest } from '../http/route.ts';
import type { SqlCondition } from '../render/visible-nodes.ts';
import { toUser } from '../render/to-user.ts';
import type { Sql } from '../store/sql.ts';
import type { UserRow } from '../store/rows.ts';
import { readPageRequest, toPagedList } from './paging.ts';
import { project, readProjection } from './projection.ts';

const USER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'u.created_at DESC, u.id'],
  ['oldest', 'u.created_at, u.id'],
]);

/** Returns one page of users in the envelope, sorted by reputation unless the request names another known sort. */
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
