import type { LegacyRequest } from '../http/route.ts';
import { type SqlCondition, visibleNodes } from '../render/visible-nodes.ts';
import type { NodeRow, Sql, SqlValue } from '../store/sql.ts';
import { nodeFilters } from './node-filters.ts';
import { listPage } from './paging.ts';

/** The list of nodes that a route returns. */
interface NodeListing {
  readonly types: readonly string[];
  /** An additional condition that the nodes must meet, such as a condition on the parent. */
  readonly condition?: SqlCondition;
  /** The sort order to use if the requested order is absent or unknown. An empty string means oldest first. */
  readonly defaultSort: 'active' | '';
  readonly toItem: (sql: Sql, node: NodeRow, caller: LegacyRequest['caller']) => Record<string, unknown>;
}

const FAVORITES = '(SELECT COUNT(*) FROM favorites f WHERE f.node_id = n.id)';
const FOLLOWERS = "(SELECT COUNT(*) FROM follows f WHERE f.kind = 'node' AND f.target_id = n.id AND f.active = 1)";
const ANSWERS = "(SELECT COUNT(*) FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')";
const COMMENTS = "(SELECT COUNT(*) FROM nodes c WHERE c.parent_id = n.id AND c.type IN ('comment', 'ideacomment'))";
const USED = `(SELECT COALESCE(MAX(t.used_count), 0) FROM node_topics nt JOIN topics t ON t.id = nt.topic_id
  WHERE nt.node_id = n.id)`;

/**
 * The ORDER BY term for each sort name, in the order of `sorts` (choice `sort-orders`). `n` stands for the nodes table.
 */
const NODE_SORTS: ReadonlyMap<string, string> = new Map([
  ['active', 'n.last_active_at DESC'],
  ['newest', 'n.created_at DESC'],
  ['hottest', `(n.score * 20 + n.views + ${ANSWERS} * 30) DESC`],
  ['votes', 'n.score DESC'],
  ['viewCount', 'n.views DESC'],
  ['usedCount', `${USED} DESC`],
  ['answerCount', `${ANSWERS} DESC`],
  ['answerCountAsc', `${ANSWERS} ASC`],
  ['commentCount', `${COMMENTS} DESC`],
  ['favoriteCount', `${FAVORITES} DESC`],
  ['followers', `${FOLLOWERS} DESC`],
  ['reportCount', 'n.reports DESC'],
]);

/** The sort names that node lists return in `sorts`. */
export const NODE_SORT_NAMES: readonly string[] = [...NODE_SORTS.keys()];

/**
 * Returns one page of the nodes that the caller may see, in the list envelope. An unknown sort order is ignored (choice
 * `sort-unknown`), and 15 is also the default page size of questions (choice `page-size-questions`).
 */
export function listNodes(sql: Sql, request: LegacyRequest, listing: NodeListing): Record<string, unknown> {
  const { query, caller } = request;
  const { types, condition, defaultSort, toItem } = listing;
  const conditions: SqlCondition[] = [
    { text: `n.type IN (${types.map(() => '?').join(', ')})`, values: types },
    ...(condition === undefined ? [] : [condition]),
    ...nodeFilters(query),
    visibleNodes(caller),
  ];
  const requestedSort = query.get('sort') ?? '';
  const sort = NODE_SORTS.has(requestedSort) ? requestedSort : defaultSort;
  const order = NODE_SORTS.get(sort) ?? 'n.created_at ASC';
  return listPage<NodeRow>(
    sql,
    query,
    { firstPage: 1, size: 15 },
    {
      columns: 'n.*',
      from: `nodes n WHERE ${conditions.map(({ text }) => text).join(' AND ')}`,
      values: conditions.flatMap(({ values }): readonly SqlValue[] => values),
      order: `${order}, n.id ${sort === '' ? 'ASC' : 'DESC'}`,
      sort,
      sorts: NODE_SORT_NAMES,
      toItem: (row) => toItem(sql, row, caller),
    },
  );
}
