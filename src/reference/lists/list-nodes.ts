import type { LegacyRequest } from '../answers/legacy-route.ts';
import { visibleNodes, type SqlCondition } from '../render/visible-nodes.ts';
import type { Sql, SqlValue } from '../store/sql.ts';
import type { NodeRow } from '../store/rows.ts';
import { kindFilter, searchFilter, spaceFilter, topicsFilter, unansweredFilter } from './node-filters.ts';
import { NODE_SORT_NAMES, NODE_SORTS } from './node-sorts.ts';
import { toPagedList } from './paged-list.ts';
import { readPageRequest } from './page-request.ts';
import { project, readProjection } from './projection.ts';

/** How one address lists nodes. */
export interface NodeListing {
  readonly types: readonly string[];
  /** The list's own condition, for example on the parent. */
  readonly condition?: SqlCondition;
  /** The sort in effect when none or an unknown one is asked for; '' is oldest first. */
  readonly defaultSort: 'active' | '';
  readonly toItem: (sql: Sql, node: NodeRow, caller: LegacyRequest['caller']) => Record<string, unknown>;
}

const PAGES = { firstPage: 1, size: 15 } as const;

/** One page of nodes in the envelope: filtered, sorted, projected, without what the caller may not see. */
export function listNodes(sql: Sql, request: LegacyRequest, listing: NodeListing): Record<string, unknown> {
  const { query, caller } = request;
  const conditions: SqlCondition[] = [
    { text: `n.type IN (${listing.types.map(() => '?').join(', ')})`, values: listing.types },
    ...(listing.condition === undefined ? [] : [listing.condition]),
    ...kindFilter(query),
    ...spaceFilter(query),
    ...topicsFilter(query),
    ...unansweredFilter(query),
    ...searchFilter(query),
    visibleNodes(caller),
  ];
  const where = conditions.map(({ text }) => text).join(' AND ');
  const values = conditions.flatMap((condition): readonly SqlValue[] => condition.values);
  const asked = query.get('sort') ?? '';
  const sort = NODE_SORTS.has(asked) ? asked : listing.defaultSort;
  const order = NODE_SORTS.get(sort) ?? 'n.created_at ASC';
  const page = readPageRequest(query, PAGES);
  const total =
    sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM nodes n WHERE ${where}`, ...values)?.total ?? 0;
  const rows = sql.all<NodeRow>(
    `SELECT n.* FROM nodes n WHERE ${where} ORDER BY ${order}, n.id ${sort === '' ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    ...values,
    page.size,
    page.offset,
  );
  const projection = readProjection(query);
  const items = rows.map((row) => project(listing.toItem(sql, row, caller), projection));
  return toPagedList({ request: page, sort, sorts: NODE_SORT_NAMES, total, items });
}
