import type { LegacyRequest } from '../http/route.ts';
import { toListedTopic } from '../render/to-node.ts';
import { toUser } from '../render/to-user.ts';
import type { SqlCondition } from '../render/visible-nodes.ts';
import type { Sql, TopicRow, UserRow } from '../store/sql.ts';
import { listPage } from './paging.ts';

const PAGES = { firstPage: 1, size: 35 } as const;

// The names are known from vendor documentation (choice `sort-names`).
const USER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'u.created_at DESC, u.id'],
  ['oldest', 'u.created_at, u.id'],
]);

/** Returns one page of users, sorted by reputation unless the request specifies another known sort order. */
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
